import type { Clock } from "../clock.js";
import { ElasticRunError, messageOf } from "../errors.js";
import { isHopeless, isUnreachable, retry } from "../rendezvous/back-off.js";
import { addWords } from "./add-words.js";
import type { AgentConfig } from "./configuration/agent-config.js";
import { durationInWords } from "./configuration/parse/scalars.js";
import { loopbackTrouble } from "./configuration/resolve-store.js";

/** The longest that a store is tried at the start, in milliseconds, unless the join time-out is shorter. */
const PATIENCE_MS = 30_000;
const SAY_EVERY_MS = 10_000;

export interface ReachStoreOptions {
	readonly clock: Clock;
	/** A number in [0, 1), by which tries are spread. */
	readonly random: () => number;
	readonly config: Pick<AgentConfig, "rendezvous">;
	/** Told about every ten seconds why the store is still tried. */
	readonly say: (message: string) => void;
}

/**
 * Makes an agent's first call of its store, again and again while nobody answers.
 * @throws ElasticRunError STORE_UNREACHABLE as the last try did, when the time is over
 */
export async function reachStore<Value>(
	call: () => Promise<Value>,
	{ clock, random, config, say }: ReachStoreOptions,
): Promise<Value> {
	const began = clock.now();
	const { joinTimeoutMs } = config.rendezvous;
	const until = began + Math.min(PATIENCE_MS, joinTimeoutMs);
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

/** The error after which a member of a run gives its store up, with how long that had been lost. */
export function lostTooLong(
	error: unknown,
	{ rendezvous }: Pick<AgentConfig, "rendezvous">,
): unknown {
	const limit = durationInWords(rendezvous.joinTimeoutMs);
	return add(error, `it was lost for longer than join_timeout (${limit})`);
}

/** An error of the store with what may be wrong where nodes are to meet; one that has another cause as it is. */
export function withAdvice(
	error: unknown,
	config: Pick<AgentConfig, "endpoints" | "maxNodes">,
): unknown {
	const advice = loopbackTrouble(config);
	return advice === undefined ? error : add(error, advice);
}

function add(error: unknown, words: string): unknown {
	if (!isUnreachable(error) || isHopeless(error)) return error;
	return new ElasticRunError(
		"STORE_UNREACHABLE",
		addWords(messageOf(error), words),
		{ cause: error },
	);
}
