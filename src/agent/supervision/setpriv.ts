import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { isAbsolute, join } from "node:path";

const PROBE_TIMEOUT_MS = 5_000;

/**
 * The arguments with which setpriv becomes the program, under the same pid, after
 * asking the kernel to SIGKILL it when the thread that spawned it ends. The kernel
 * forgets that where the program is setuid or has file capabilities.
 */
export function killWithParent(
	file: string,
	args: readonly string[],
): readonly string[] {
	return ["--pdeathsig", "KILL", "--", file, ...args];
}

/**
 * The first setpriv on `path` (the value of PATH), tried once: that of busybox
 * and of util-linux before 2.33 cannot do it. Undefined where there is none, and
 * outside of Linux. Never rejects.
 */
export async function findSetpriv(
	path: string | undefined,
): Promise<string | undefined> {
	if (process.platform !== "linux") return undefined;
	const tool = (path ?? "")
		.split(":")
		.filter((folder) => isAbsolute(folder))
		.map((folder) => join(folder, "setpriv"))
		.find(isExecutable);
	return tool !== undefined && (await works(tool)) ? tool : undefined;
}

function works(tool: string): Promise<boolean> {
	return new Promise((resolve) => {
		execFile(
			tool,
			killWithParent(tool, ["--version"]),
			{ env: {}, timeout: PROBE_TIMEOUT_MS },
			(error) => resolve(error === null),
		);
	});
}

function isExecutable(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
