import { ElasticRunError, messageOf, systemErrorCode } from "../base/errors.js";

const ADVICE =
	"Set ELASTIC_RUN_DIR to a directory on a local disk that only you can write to";
const NO_ROOM = new Set(["ENOSPC", "EDQUOT"]);
const MORE_ROOM =
	"Make room there, or set ELASTIC_RUN_DIR to a directory on another local disk";

/** An error about a directory or file of the channel: what is wrong, where, and the fix. */
export function channelError(
	place: string,
	problem: string,
	cause?: unknown,
	advice = ADVICE,
): ElasticRunError {
	return new ElasticRunError(
		"CHANNEL",
		`The channel directory ${place} cannot be used: ${problem}. ${advice}`,
		{ cause },
	);
}

/** The same, after a failed system call. */
export function channelFailure(place: string, error: unknown): ElasticRunError {
	const isFull = NO_ROOM.has(systemErrorCode(error) ?? "");
	const advice = isFull ? MORE_ROOM : ADVICE;
	return channelError(place, messageOf(error), error, advice);
}

/** Warns the user. `problem` identifies the subject when different messages may be about the same thing. */
export type Warn = (message: string, problem?: string) => void;

/** A process that runs for weeks forgets the oldest problems; these may be reported again. */
const KEPT_PROBLEMS = 4096;

/** Passes on one message per problem. */
export function onceEach(warn: (message: string) => void): Warn {
	const said = new Set<string>();
	return (message, problem = message) => {
		if (said.has(problem)) return;
		const [oldest] = said;
		if (oldest !== undefined && said.size >= KEPT_PROBLEMS) said.delete(oldest);
		said.add(problem);
		warn(message);
	};
}
