import { basename } from "node:path";
import type { ColdReason } from "./ahead.js";

export interface PythonArguments {
	/** Its own flags, as they were grouped: `-u`, `-sE`. */
	readonly flags: readonly string[];
	/** How many arguments say what runs: until the script, `-m` with its module, or `-c` with its text. */
	readonly length: number;
}

/** Flags, then perhaps an option whose value is the rest of the word, or the next word. */
const WORD = /^-([^cmWX]*)([cmWX]?)(.*)$/s;

/** Reads them as Python does. */
export function readPythonArguments(args: readonly string[]): PythonArguments {
	const flags: string[] = [];
	for (let index = 0; index < args.length; index++) {
		const word = args[index] ?? "";
		if (word === "--") return { flags, length: index + 2 };
		if (word === "-" || !word.startsWith("-")) {
			return { flags, length: index + 1 };
		}
		if (word.startsWith("--")) {
			if (word === "--check-hash-based-pycs") index += 1;
			continue;
		}
		const [, letters = "", option = "", value = ""] = WORD.exec(word) ?? [];
		if (letters !== "") flags.push(`-${letters}`);
		if (option !== "" && value === "") index += 1;
		if (/[cm]/.test(option)) return { flags, length: index + 1 };
	}
	return { flags, length: args.length };
}

/** The flag of Python that keeps the launcher's hook out, and so all warm starts; undefined if there is none. */
export function flagAgainstHook(args: readonly string[]): string | undefined {
	return readPythonArguments(args).flags.find((flag) => /[IES]/.test(flag));
}

export const NOT_PYTHON: ColdReason = {
	kind: "command",
	reason: "the command is not Python itself, it only starts Python",
};

/** A wrapper of another name may do something for each worker. */
export function isPython(file: string): boolean {
	return /^python[\d.]*t?$/.test(basename(file));
}
