/** How far into a line its time may begin: after a level, a rank in brackets, or the like. */
const LOOKED_AT_CHARACTERS = 80;
const DATE_AND_TIME =
	/(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?/;
/** The fields in which JSON logs have the time. */
const TIME_FIELDS = ["time", "timestamp", "ts", "@timestamp"] as const;
/** A smaller number is in seconds since 1970, not in milliseconds. */
const LEAST_MILLISECONDS = 1e11;

/**
 * The time in a line, in milliseconds since 1970; undefined if it has none. It reads dates with times as ISO 8601 and
 * Python's logging write them (without a zone: this machine's), and the usual fields of JSON lines.
 */
export function lineTime(line: string): number | undefined {
	return line.startsWith("{") ? jsonTime(line) : textTime(line);
}

function textTime(line: string): number | undefined {
	const [, ...parts] =
		DATE_AND_TIME.exec(line.slice(0, LOOKED_AT_CHARACTERS)) ?? [];
	const [year, month, day, hours, minutes, seconds, fraction, zone] = parts;
	if (year === undefined) return undefined;
	const milliseconds = (fraction ?? "").slice(0, 3).padEnd(3, "0");
	const text = `${year}-${month}-${day}T${hours}:${minutes}:${seconds}.${milliseconds}${zone ?? ""}`;
	return validTime(Date.parse(text));
}

function jsonTime(line: string): number | undefined {
	const record = parse(line);
	for (const field of TIME_FIELDS) {
		const value = record?.get(field);
		if (typeof value === "string") return textTime(value);
		if (typeof value === "number") {
			return validTime(value < LEAST_MILLISECONDS ? value * 1_000 : value);
		}
	}
	return undefined;
}

function parse(line: string): ReadonlyMap<string, unknown> | undefined {
	try {
		const value: unknown = JSON.parse(line);
		return typeof value === "object" && value !== null
			? new Map(Object.entries(value))
			: undefined;
	} catch {
		return undefined;
	}
}

function validTime(time: number): number | undefined {
	return Number.isFinite(time) && time > 0 ? time : undefined;
}
