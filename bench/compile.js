import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The programs in C, compiled into `directory`.
 * @returns {{ worker: string, launcher: string }}
 */
export function compilePrograms(directory) {
	return {
		worker: compile("worker.c", join(directory, "worker")),
		launcher: compile("peers/by-hand.c", join(directory, "by-hand")),
	};
}

function compile(source, program) {
	const path = fileURLToPath(new URL(source, import.meta.url));
	const { error, status, stderr } = spawnSync(
		"cc",
		["-O2", "-o", program, path],
		{ encoding: "utf8" },
	);
	if (status !== 0) {
		throw new Error(`cc cannot compile ${source}: ${error ?? stderr}`);
	}
	return program;
}
