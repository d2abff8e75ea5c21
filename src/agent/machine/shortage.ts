import { systemErrorCode } from "../../base/errors.js";

/** What a node may lack for a moment. Another node may have it. */
const SHORTAGES: ReadonlySet<string> = new Set([
	"EAGAIN",
	"ENOMEM",
	"EMFILE",
	"ENFILE",
	"ENOSPC",
	"EDQUOT",
]);

export function isShortage(code: string): boolean {
	return SHORTAGES.has(code);
}

/** The code of a shortage in an error or its causes; undefined if there is none. */
export function shortageOf(error: unknown): string | undefined {
	for (let cause = error; cause instanceof Error; cause = cause.cause) {
		const code = systemErrorCode(cause);
		if (code !== undefined && isShortage(code)) return code;
	}
	return undefined;
}
