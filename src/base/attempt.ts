import { readFileSync } from "node:fs";

/** What a call returns; undefined if it throws. */
export function attempt<Value>(call: () => Value): Value | undefined {
	try {
		return call();
	} catch {
		return undefined;
	}
}

/** What a file holds; undefined if it is not there, as that of a process that has ended, or not for this user. */
export function textAt(path: string): string | undefined {
	return attempt(() => readFileSync(path, "utf8"));
}
