import { spawn } from "node:child_process";

const LIMIT_MS = 200_000;

/** Runs Node to its end; after a long time it is killed. */
export function runNode(
	args: readonly string[],
	cwd: string,
): Promise<{ readonly code: number | null; readonly output: string }> {
	return new Promise((resolve, reject) => {
		const child = spawn(process.execPath, args, {
			cwd,
			stdio: ["ignore", "pipe", "pipe"],
			timeout: LIMIT_MS,
			killSignal: "SIGKILL",
		});
		let output = "";
		for (const stream of [child.stdout, child.stderr]) {
			stream.setEncoding("utf8").on("data", (text) => {
				output += text;
			});
		}
		child.on("error", reject);
		child.on("close", (code) => resolve({ code, output }));
	});
}
