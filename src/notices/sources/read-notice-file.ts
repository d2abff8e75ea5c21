import { knownTime, wordIn } from "./parse-json.js";

const SECONDS = /^\d{1,9}(\.\d+)?$/;
/** A date and perhaps a time; a zone may follow. */
const ISO =
	/^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)? ?(Z|[+-]\d\d:?\d\d)?)?$/i;

export interface NoticeFile {
	/** In milliseconds since 1970; undefined if the file names none. */
	readonly deadline: number | undefined;
	/** The lines after the first one, or after none that is a deadline. */
	readonly reason: string | undefined;
}

/**
 * The first line of a notice's file may be a deadline: seconds from now, or an ISO time. What follows is the reason.
 * @param wallTime milliseconds since 1970
 */
export function readNoticeFile(text: string, wallTime: number): NoticeFile {
	const [first = "", ...others] = text.split("\n").map((line) => line.trim());
	const deadline = readDeadline(first, wallTime);
	const words = deadline === undefined ? [first, ...others] : others;
	const reason = wordIn(words.filter((line) => line !== "").join(", "));
	return { deadline, reason: reason === "" ? undefined : reason };
}

function readDeadline(line: string, wallTime: number): number | undefined {
	if (SECONDS.test(line)) return wallTime + Number(line) * 1_000;
	return ISO.test(line) ? knownTime(Date.parse(line)) : undefined;
}
