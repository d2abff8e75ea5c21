import { execFile } from "node:child_process";
import type { Clock } from "../../base/clock.js";
import { isLiving, readProcess } from "../../base/process-stat.js";
import type { OrphanFate } from "./judge-tools.js";

const LOOK_EVERY_MS = 20;
const PATIENCE_MS = 5_000;
const GUARD_NEEDS = ["grep", "sleep", "rm", "tr"];
/** The shell prints its child's pid and ends before the child, which becomes an orphan. */
const MAKE_ORPHAN = "sleep 0.1 >/dev/null 2>&1 & echo $!";

/** Makes an orphan, and watches for 5 s whether it is reaped. */
export async function watchOrphan(clock: Clock): Promise<OrphanFate> {
	const pid = Number(await runShell(MAKE_ORPHAN));
	if (!Number.isSafeInteger(pid) || readProcess(process.pid) === undefined) {
		return "unknown";
	}
	const deadline = clock.now() + PATIENCE_MS;
	for (;;) {
		const entry = readProcess(pid);
		if (entry === undefined) return "reaped";
		if (clock.now() >= deadline) return isLiving(entry) ? "unknown" : "zombie";
		await new Promise<void>((resolve) =>
			clock.wakeAt(clock.now() + LOOK_EVERY_MS, resolve),
		);
	}
}

/** The guard's programs that are not on `path`; undefined without a shell. */
export async function missingGuardTools(
	path: string | undefined,
): Promise<readonly string[] | undefined> {
	const look = `for tool in ${GUARD_NEEDS.join(" ")}; do command -v $tool >/dev/null || echo $tool; done`;
	const missing = await runShell(look, path);
	return missing?.split("\n").filter((name) => name !== "");
}

/** Its output; undefined if there is no shell. */
function runShell(script: string, path?: string): Promise<string | undefined> {
	return new Promise((resolve) => {
		execFile(
			"/bin/sh",
			["-c", script],
			{
				timeout: PATIENCE_MS,
				...(path === undefined ? {} : { env: { PATH: path } }),
			},
			(error, stdout) => resolve(error === null ? stdout : undefined),
		);
	});
}
