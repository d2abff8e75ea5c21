import {
	accessSync,
	closeSync,
	constants,
	openSync,
	readSync,
	statSync,
} from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { systemErrorCode } from "../base/errors.js";
import type { SpawnProblem } from "./worker.js";

/** The problem with a command, found before or after its spawn was tried. */
export type CommandFault =
	| { readonly kind: "cwd-missing" | "cwd-not-a-directory" | "cwd-forbidden" }
	| { readonly kind: "missing" | "directory" | "special" | "not-executable" }
	| { readonly kind: "interpreter-missing"; readonly interpreter: string };

/** The part of a worker's command that messages name. */
export interface CommandPlace {
	readonly file: string;
	readonly cwd: string;
}

/** Describes a fault: what is wrong, where, and how to fix it. */
export function describeFault(
	fault: CommandFault,
	{ file, cwd }: CommandPlace,
): SpawnProblem {
	switch (fault.kind) {
		case "cwd-missing":
			return {
				code: "ENOENT",
				message: `the working directory "${cwd}" does not exist: create it, or start from another one`,
			};
		case "cwd-not-a-directory":
			return {
				code: "ENOTDIR",
				message: `the working directory "${cwd}" is not a directory: start from another one`,
			};
		case "cwd-forbidden":
			return {
				code: "EACCES",
				message: `the working directory "${cwd}" may not be entered by this user: change its permissions, or start from another one`,
			};
		case "missing":
			return {
				code: "ENOENT",
				message: `the program "${file}" does not exist: check its path, or install it`,
			};
		case "directory":
			return {
				code: "EISDIR",
				message: `"${file}" is a directory: give the program in it`,
			};
		case "special":
			return {
				code: "EACCES",
				message: `"${file}" is a pipe, a socket or a device: give a program`,
			};
		case "not-executable":
			return {
				code: "EACCES",
				message: `"${file}" may not be executed by this user: chmod +x it, or name its interpreter before it (a file system mounted noexec refuses every program)`,
			};
		case "interpreter-missing":
			return {
				code: "ENOENT",
				message: describeMissingInterpreter(file, fault.interpreter),
			};
	}
	return fault satisfies never;
}

function describeMissingInterpreter(file: string, interpreter: string): string {
	return interpreter.endsWith("\r")
		? `the first line of "${file}" ends as on Windows, so that its interpreter is not found: convert the line ends (sed -i 's/\\r$//' "${file}")`
		: `"${file}" names the interpreter "${interpreter}" in its first line, which does not exist: install it, or correct the line`;
}

const REMEDY: Readonly<Record<string, string>> = {
	E2BIG:
		"its arguments and environment are longer than this system allows: put them in a file",
	EAGAIN:
		"this user has as many processes as it may: raise ulimit -u (in a container: its limit of pids), or start fewer workers",
	ENOMEM: "there is no memory for a new process: start fewer workers",
	EMFILE:
		"this launcher has as many open files as it may: raise ulimit -n, or start fewer workers",
	ENFILE:
		"the whole system has as many open files as it may: raise fs.file-max",
	ETXTBSY: "its file is being written: start again when that is done",
	EPERM: "the system's security rules forbid it: ask who administers them",
};

/** Describes a spawn error whose cause was not found in the command's files, and what to do. */
export function describeSpawnError(
	code: string | undefined,
	message: string,
	{ file, cwd }: CommandPlace,
): SpawnProblem {
	const remedy = code === undefined ? undefined : REMEDY[code];
	return {
		code: code ?? "EINVAL",
		message: `"${file}" could not be started in "${cwd}": ${remedy ?? message}${remedy === undefined ? "" : ` (${code})`}`,
	};
}

/** The interpreter in a script's first line, including a trailing carriage return; undefined without one. */
export function interpreterOf(beginning: string): string | undefined {
	return /^#![ \t]*([^ \t\n]+)[ \t]*[^\n]*\n/.exec(beginning)?.[1];
}

/** The kernel also cuts longer first lines. */
const FIRST_LINE_BYTES = 256;

/**
 * Looks in a command's files for what would make its spawn fail. Node blames a missing working directory or interpreter
 * on the program, and a helper that starts the program turns its absence into an exit code. So this runs before the
 * spawn.
 */
export function examineCommand(place: CommandPlace): CommandFault | undefined {
	return (
		examineDirectory(place.cwd) ?? examineFile(resolve(place.cwd, place.file))
	);
}

/** Like `examineCommand`, but a sound command is examined once per turn: a round spawns many workers at once. */
export function examineOncePerTurn(): typeof examineCommand {
	let sound: CommandPlace | undefined;
	return (place) => {
		if (sound?.file === place.file && sound.cwd === place.cwd) return undefined;
		const fault = examineCommand(place);
		if (fault !== undefined) return fault;
		sound = place;
		queueMicrotask(() => {
			sound = undefined;
		});
		return undefined;
	};
}

function examineDirectory(cwd: string): CommandFault | undefined {
	const found = inspect(cwd);
	if (found === "missing") return { kind: "cwd-missing" };
	if (found !== "directory") return { kind: "cwd-not-a-directory" };
	return isExecutable(cwd) ? undefined : { kind: "cwd-forbidden" };
}

function examineFile(file: string): CommandFault | undefined {
	const found = inspect(file);
	if (found !== "file") return { kind: found };
	if (!isExecutable(file)) return { kind: "not-executable" };
	const interpreter = interpreterOf(readBeginning(file));
	const isMissing =
		interpreter !== undefined &&
		isAbsolute(interpreter) &&
		inspect(interpreter) === "missing";
	return isMissing ? { kind: "interpreter-missing", interpreter } : undefined;
}

/** An unreadable path counts as a file. */
function inspect(path: string): "missing" | "directory" | "special" | "file" {
	try {
		const found = statSync(path);
		if (found.isDirectory()) return "directory";
		return found.isFile() ? "file" : "special";
	} catch (error) {
		const code = systemErrorCode(error);
		return code === "ENOENT" || code === "ENOTDIR" ? "missing" : "file";
	}
}

export function isExecutable(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}

function readBeginning(file: string): string {
	try {
		const descriptor = openSync(file, "r");
		try {
			const buffer = Buffer.alloc(FIRST_LINE_BYTES);
			const length = readSync(descriptor, buffer, 0, buffer.length, 0);
			return buffer.toString("latin1", 0, length);
		} finally {
			closeSync(descriptor);
		}
	} catch {
		// A program may be executable without being readable.
		return "";
	}
}
