import { dateAndTime } from "../base/local-time.js";
import { plainText } from "../logs/plain-text.js";
import { paintForRank } from "../logs/prefix.js";
import type { LogLine } from "./log-source.js";

export interface LineLook {
	/** The line starts with its time. */
	readonly hasTime: boolean;
	/** The prefix of a worker's line is coloured by rank, as on the console. */
	readonly colours: boolean;
}

/** As long as a date and time with milliseconds. */
const NO_TIME = "(no time)".padEnd(23);

/** A line of a run's logs for people: `[node-a 3] step 7`. */
export function lineInWords(line: LogLine, look: LineLook): string {
	const { nodeId, rank, localRank, stream, text } = line;
	const who =
		stream === "launcher" ? "launcher" : (rank ?? `local rank ${localRank}`);
	const prefix = `[${plainText(nodeId)} ${who}]`;
	const painted =
		look.colours && rank !== null ? paintForRank(prefix, rank) : prefix;
	return `${look.hasTime ? `${timeOf(line)} ` : ""}${painted} ${text}`;
}

function timeOf({ time, timeFrom }: LogLine): string {
	if (timeFrom === "file") return NO_TIME;
	const milliseconds = String(Math.floor(time) % 1_000).padStart(3, "0");
	return `${dateAndTime(time)}.${milliseconds}`;
}
