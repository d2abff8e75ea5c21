import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * The programs in C, compiled into `directory`; without a compiler the worker
 * is a shell script and there is no launcher in C.
 * @returns {{ worker: string, launcher: string | undefined, isCompiled: boolean }}
 */
export function compilePrograms(directory) {
	const worker = compile("worker.c", join(directory, "worker"));
	const launcher = compile("peers/by-hand.c", join(directory, "by-hand"));
	if (worker === undefined) {
		return {
			worker: here("worker.sh"),
			launcher: undefined,
			isCompiled: false,
		};
	}
	return { worker, launcher, isCompiled: true };
}

function compile(source, program) {
	const { error, status, stderr } = spawnSync(
		"cc",
		["-O2", "-o", program, here(source)],
		{ encoding: "utf8" },
	);
	if (error !== undefined) return undefined;
	if (status !== 0) throw new Error(`cc cannot compile ${source}: ${stderr}`);
	return program;
}
