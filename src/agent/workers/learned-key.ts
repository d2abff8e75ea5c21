import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { WorkerCommand } from "../../config/agent-config.js";
import { digestFile } from "../../config/resolve-identity.js";
import { readPythonArguments } from "../../warm/index.js";

/**
 * Names what decides what a command imports: the interpreter, by the name of its real program (`python3.11`), and the
 * script, by its text; a script that cannot be read, a module or `-c`, by its words. The script's arguments seldom change
 * what it imports. Starts no process, and never rejects.
 */
export async function digestOfCommand({
	file,
	args,
	cwd,
}: Pick<WorkerCommand, "file" | "args" | "cwd">): Promise<string> {
	const { length } = readPythonArguments(args);
	const words = args.slice(0, length);
	const script = words.pop() ?? "";
	const named = [
		basename(await realpath(file).catch(() => file)),
		...words,
		(await digestFile(resolve(cwd, script))) ?? script,
	];
	return createHash("sha256")
		.update(JSON.stringify(named))
		.digest("hex")
		.slice(0, 32);
}
