/** The bounds of a count; Infinity without a limit. */
export interface Limit {
	readonly soft: number;
	readonly hard: number;
}

/** One limit from the text of /proc/PID/limits, by its name there; undefined if it has none. */
export function parseLimit(text: string, name: string): Limit | undefined {
	const line = text.split("\n").find((words) => words.startsWith(`${name} `));
	const [soft, hard] = line?.slice(name.length).trim().split(/\s+/) ?? [];
	return soft === undefined || hard === undefined
		? undefined
		: { soft: parseCount(soft), hard: parseCount(hard) };
}

/** A number from a control group or the kernel, where "max" and "unlimited" mean no limit; NaN for any other text. */
export function parseCount(text: string): number {
	const word = text.trim();
	if (word === "max" || word === "unlimited") return Number.POSITIVE_INFINITY;
	return /^\d+$/.test(word) ? Number(word) : Number.NaN;
}
