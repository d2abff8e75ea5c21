import { execFile } from "node:child_process";
import { isAbsolute, join } from "node:path";
import { isExecutable } from "./spawn-problem.js";

const PROBE_TIMEOUT_MS = 5_000;

/**
 * The arguments with which setpriv asks the kernel to SIGKILL it when its parent thread ends, and then becomes the
 * program under the same pid. The kernel forgets the request if the program is setuid or has file capabilities.
 */
export function killWithParent(
	file: string,
	args: readonly string[],
): readonly string[] {
	return ["--pdeathsig", "KILL", "--", file, ...args];
}

/**
 * The first setpriv on `path` (a PATH), tested once: that of busybox and of util-linux before 2.33 cannot do it.
 * Undefined if there is none, and outside Linux. Never rejects.
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
