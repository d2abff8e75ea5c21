import { deflateRawSync, inflateRawSync } from "node:zlib";
import { fields, type Infer, matching } from "../../base/shape.js";
import { count, type SharedModules, version } from "../../model/index.js";

const MOST_BYTES = 64 * 1024;
const MOST_NAMES = 20_000;
const MOST_INFLATED = 2 * 1024 * 1024;
const NAME = /^[A-Za-z_]\w{0,99}(\.[A-Za-z_]\w{0,99}){0,19}$/;
/** Libraries of Python's own that do something when they are imported. */
const DOES_SOMETHING =
	/^(antigravity|this|idlelib|turtledemo|test)(\.|$)|(^|\.)__main__(\.|$)/;

/** `learned/<digest of the command>`, written without a lease. */
export type LearnedRecord = Infer<typeof LEARNED>;

export const LEARNED = fields({
	version,
	/** The names, a line each; deflated, as base64. */
	modules: matching(
		new RegExp(`^[A-Za-z0-9+/=]{0,${MOST_BYTES}}$`),
		`at most ${MOST_BYTES} characters of base64`,
	),
	bytes: count,
});

/** Undefined if there are too many for a record. */
export function recordOfModules({
	modules,
	bytes,
}: SharedModules): LearnedRecord | undefined {
	const names = modules.filter(isHarmless).slice(0, MOST_NAMES);
	const packed = deflateRawSync(names.join("\n")).toString("base64");
	const isShort = packed.length <= MOST_BYTES - 100;
	return isShort ? { version: 1, modules: packed, bytes } : undefined;
}

/** Another user may have written the record: it gives only names of modules, and none that is known to act when it is imported. Undefined if it has none. */
export function modulesOf(record: LearnedRecord): SharedModules | undefined {
	try {
		const packed = Buffer.from(record.modules, "base64");
		const inflated = inflateRawSync(packed, { maxOutputLength: MOST_INFLATED });
		const names = inflated.toString("utf8").split("\n").slice(0, MOST_NAMES);
		const modules = [...new Set(names.filter(isHarmless))];
		return modules.length === 0 ? undefined : { modules, bytes: record.bytes };
	} catch {
		return undefined;
	}
}

function isHarmless(name: string): boolean {
	return NAME.test(name) && !DOES_SOMETHING.test(name);
}
