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
import {
	type CommandFault,
	type CommandPlace,
	interpreterOf,
} from "./spawn-problem.js";

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

function isExecutable(path: string): boolean {
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
