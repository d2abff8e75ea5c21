import { type Finding, fine, problem, warning } from "./finding.js";
import { inBytes, MIB } from "./sizes.js";

/** Each worker has the newest 64 events and a few replies of about a kilobyte. */
const CHANNEL_BYTES_A_WORKER = 0.5 * MIB;
const LOGS_FULL_BELOW = 16 * MIB;
const LOGS_SHORT_BELOW = 1024 * MIB;

export interface ChannelFacts {
	readonly base: string;
	/** Why it cannot be used, in words that end with the fix. */
	readonly refusal: string | undefined;
	/** The name of its network file system. */
	readonly network: string | undefined;
	readonly freeBytes: number;
}

/** The directory in which launcher and workers exchange files. */
export function judgeChannel(
	{ base, refusal, network, freeBytes }: ChannelFacts,
	workers: number,
): Finding {
	const check = "channel directory";
	const elsewhere = "set ELASTIC_RUN_DIR to a directory on a local disk";
	if (refusal !== undefined) return problem(check, refusal, elsewhere);
	const message = `${base} has ${inBytes(freeBytes)} free`;
	const needed = CHANNEL_BYTES_A_WORKER * workers;
	if (freeBytes < needed) {
		return problem(
			check,
			`${message}; ${workers} workers need up to ${inBytes(needed)}`,
			`make room there, or ${elsewhere}`,
		);
	}
	return network === undefined
		? fine(check, message)
		: warning(
				check,
				`${base} is on a network file system (${network}): events are found by polling, which is slower`,
				elsewhere,
			);
}

export interface LogFacts {
	readonly directory: string;
	/** The system's error if nothing can be created in it. */
	readonly refusal: string | undefined;
	readonly freeBytes: number;
}

/** The directory for the logs of a run that names no other. */
export function judgeLogs({
	directory,
	refusal,
	freeBytes,
}: LogFacts): Finding {
	const check = "log directory";
	const elsewhere = "use another --log-dir";
	if (refusal !== undefined) {
		return problem(
			check,
			`nothing can be made in ${directory} (${refusal})`,
			elsewhere,
		);
	}
	const message = `${directory} has ${inBytes(freeBytes)} free`;
	if (freeBytes < LOGS_FULL_BELOW) {
		return problem(check, message, `make room there, or ${elsewhere}`);
	}
	return freeBytes < LOGS_SHORT_BELOW
		? warning(check, message, `make room there, or ${elsewhere}`)
		: fine(check, message);
}
