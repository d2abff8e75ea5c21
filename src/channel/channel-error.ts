import { ElasticRunError, messageOf } from "../errors.js";

const ADVICE =
	"Set ELASTIC_RUN_DIR to a directory on a local disk that only you can write to.";

/** An error about a directory or file of the channel: what is wrong, where, and the fix. */
export function channelError(
	place: string,
	problem: string,
	cause?: unknown,
): ElasticRunError {
	return new ElasticRunError(
		"CHANNEL",
		`The channel directory ${place} cannot be used: ${problem}. ${ADVICE}`,
		{ cause },
	);
}

/** The same, where a system call failed. */
export function channelFailure(place: string, error: unknown): ElasticRunError {
	return channelError(place, messageOf(error), error);
}
