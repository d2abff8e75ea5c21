import { isHopeless, isUnreachable, retry } from "../../base/back-off.js";
import type { Clock } from "../../base/clock.js";
import {
	addWords,
	ElasticRunError,
	EXIT_CODES,
	messageOf,
} from "../../base/errors.js";
import type { Logger } from "../../base/logger.js";
import {
	type AgentConfig,
	durationInWords,
	loopbackTrouble,
} from "../../config/index.js";

/** How long to try a store at the start, in milliseconds, unless the join time-out is shorter. */
const PATIENCE_MS = 30_000;
const SAY_EVERY_MS = 10_000;

interface ReachStoreOptions {
	readonly clock: Clock;
	/** A number in [0, 1) that spreads the tries. */
	readonly random: () => number;
	readonly config: Pick<AgentConfig, "rendezvous"> &
		Partial<Pick<AgentConfig, "meeting">>;
	/** Called about every ten seconds with why the store cannot be reached yet. */
	readonly say: (message: string) => void;
}

/**
 * Makes an agent's first call to its store, and repeats it until the store answers.
 * @throws ElasticRunError STORE_UNREACHABLE, the last error, when the time is over
 */
export async function reachStore<Value>(
	call: () => Promise<Value>,
	{ clock, random, config, say }: ReachStoreOptions,
): Promise<Value> {
	const began = clock.now();
	const { joinTimeoutMs } = config.rendezvous;
	// The node that hosts the store may be the last to start.
	const patienceMs = config.meeting ? joinTimeoutMs : PATIENCE_MS;
	const until = began + Math.min(patienceMs, joinTimeoutMs);
	const triedFor = () => `${Math.round((clock.now() - began) / 1000)} s`;
	let sayAt = began + SAY_EVERY_MS;
	const attempt = async () => {
		try {
			return await call();
		} catch (error) {
			if (clock.now() >= sayAt) {
				say(`still trying, for ${triedFor()}: ${messageOf(error)}`);
				sayAt += SAY_EVERY_MS;
			}
			throw error;
		}
	};
	try {
		return await retry({ clock, random, until }, attempt);
	} catch (error) {
		throw add(error, `tried for ${triedFor()}`);
	}
}

/** The error with which a member gives up its store, with how long the store was lost. */
export function lostTooLong(
	error: unknown,
	{ rendezvous }: Pick<AgentConfig, "rendezvous">,
): unknown {
	const limit = durationInWords(rendezvous.joinTimeoutMs);
	return add(error, `it was lost for longer than join_timeout (${limit})`);
}

/** Adds advice to an error of the store where nodes may meet at the wrong place; returns other errors unchanged. */
export function withAdvice(
	error: unknown,
	config: Pick<AgentConfig, "endpoints" | "maxNodes"> &
		Partial<Pick<AgentConfig, "meeting">>,
): unknown {
	const advice = loopbackTrouble(config) ?? meetingAdvice(config);
	return advice === undefined ? error : add(error, advice);
}

function meetingAdvice({
	endpoints,
	meeting,
}: Pick<AgentConfig, "endpoints"> & Partial<Pick<AgentConfig, "meeting">>):
	| string
	| undefined {
	if (meeting === undefined) return undefined;
	return endpoints.length === 1
		? "the launcher there hosts it: was it started, and does its machine still run? Three endpoints survive the loss of one"
		: "the launchers there host it: more than half of them must run";
}

function add(error: unknown, words: string): unknown {
	if (!isUnreachable(error) || isHopeless(error)) return error;
	return new ElasticRunError(
		"STORE_UNREACHABLE",
		addWords(messageOf(error), words),
		{ cause: error },
	);
}

/** If nodes did not find each other, each may have been alone with a separate store. */
export function adviseLonely(
	{ exitCode }: { readonly exitCode: number },
	config: AgentConfig,
	log: Pick<Logger, "warn">,
): void {
	if (exitCode !== EXIT_CODES.rendezvous) return;
	const advice = loopbackTrouble(config);
	if (advice !== undefined) log.warn(advice);
}
