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
