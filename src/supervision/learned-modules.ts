import { readFileSync, statSync } from "node:fs";
import { fields, list, oneOf, text, whole } from "../base/shape.js";

/** What a worker left of its imports after its first step: docs/warm-restarts.md. */
export interface LearnedModules {
	readonly version: 1;
	readonly pid: number;
	/** The interpreter, and the arguments with which it was started. */
	readonly executable: string;
	readonly arguments: readonly string[];
	readonly modules: readonly string[];
}

/** Larger lists are not taken. */
export const LARGEST_LIST_BYTES = 256 * 1024;
const MOST_MODULES = 20_000;

const LEARNED = fields<LearnedModules>(
	{
		version: oneOf(1),
		pid: whole(2, 2 ** 31),
		executable: text(4_096),
		arguments: list(text(LARGEST_LIST_BYTES)),
		modules: list(text(300)),
	},
	({ modules }) =>
		modules.length > MOST_MODULES
			? { field: "modules", allowed: `at most ${MOST_MODULES}` }
			: undefined,
);

/** Undefined if there is none, or it is no such list. Never throws. */
export function readLearned(path: string): LearnedModules | undefined {
	try {
		if (statSync(path).size > LARGEST_LIST_BYTES) return undefined;
		const value: unknown = JSON.parse(readFileSync(path, "utf8"));
		return LEARNED(value, {}) ? value : undefined;
	} catch {
		return undefined;
	}
}
