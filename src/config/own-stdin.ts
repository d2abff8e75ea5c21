import { fstatSync, readFileSync } from "node:fs";
import { isatty } from "node:tty";

/** The kind of the launcher's stdin. A terminal counts only if this process is in its foreground. */
export type StdinKind = "terminal" | "pipe" | "other";

const STDIN = 0;

export function ownStdin(): StdinKind {
	try {
		if (isatty(STDIN)) return isInForeground() ? "terminal" : "other";
		const stdin = fstatSync(STDIN);
		return stdin.isFIFO() || stdin.isSocket() ? "pipe" : "other";
	} catch {
		return "other";
	}
}

/** Whether stdin holds input for the launcher: a pipe or a file, not a terminal or /dev/null. */
export function isStdinGiven(): boolean {
	try {
		const stdin = fstatSync(STDIN);
		return stdin.isFIFO() || stdin.isSocket() || stdin.isFile();
	} catch {
		return false;
	}
}

/** A background command must not take input that the user types for the shell. */
function isInForeground(): boolean {
	try {
		const text = readFileSync("/proc/self/stat", "utf8");
		const fields = text.slice(text.lastIndexOf(") ") + 2).split(" ");
		const [group, foreground] = [fields[2], fields[5]];
		return group === foreground;
	} catch {
		// This system has no /proc.
		return true;
	}
}
