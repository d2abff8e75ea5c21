import { reachStore } from "../agent/joining/reach-store.js";
import type { Clock } from "../base/clock.js";
import { ElasticRunError } from "../base/errors.js";
import type { Logger } from "../base/logger.js";
import type { AgentConfig } from "../config/agent-config.js";
import { addressOf } from "../config/parse/endpoints.js";
import { Gateway } from "./gateway.js";
import { type Judgement, judgeAnswerer } from "./judge-answerer.js";

/** How long to wait for the etcd of another run to end. */
export const PASSES_WITHIN_MS = 30_000;

export interface FindOptions {
	readonly config: Pick<
		AgentConfig,
		"endpoints" | "runId" | "rendezvous" | "meeting"
	>;
	readonly clock: Clock;
	/** A number in [0, 1) that spreads the tries. */
	readonly random: () => number;
	readonly log: Pick<Logger, "warn">;
	/** Whether the launch was given up. */
	readonly isAborted: () => boolean;
}

/**
 * Waits until the etcd of this run answers at one of the endpoints, so that an agent never writes into another one.
 * @throws ElasticRunError USAGE if an endpoint belongs to another etcd; STORE_UNREACHABLE if none answers in time
 */
export async function findMeeting(options: FindOptions): Promise<void> {
	const { config, clock, random, log, isAborted } = options;
	const until = clock.now() + PASSES_WITHIN_MS;
	let told = "";
	const look = async () => {
		if (isAborted()) throw new ElasticRunError("ABORTED", "it was given up");
		const found = await Promise.all(
			config.endpoints.map((endpoint) => judge(endpoint, config.runId)),
		);
		const foreign = wordsOf(found, "foreign");
		if (foreign) throw new ElasticRunError("USAGE", foreign);
		const passing = wordsOf(found, "passing");
		if (passing && clock.now() >= until) {
			throw new ElasticRunError("USAGE", passing);
		}
		if (passing && passing !== told) {
			told = passing;
			log.warn(`${passing}; waiting for its end`);
		}
		if (!passing && found.some(({ kind }) => kind === "ours")) return;
		const words = passing || wordsOf(found, "awaited");
		throw new ElasticRunError(
			"STORE_UNREACHABLE",
			`the etcd of the run cannot be reached: ${words}`,
		);
	};
	const say = (words: string) => log.warn(words);
	await reachStore(look, { config, clock, random, say });
}

async function judge(endpoint: string, runId: string): Promise<Judgement> {
	const answerer = await new Gateway(addressOf(endpoint)).answerer();
	return judgeAnswerer(answerer, { runId, endpoint });
}

function wordsOf(
	found: readonly Judgement[],
	kind: "foreign" | "passing" | "awaited",
): string {
	return found
		.flatMap((judgement) => (judgement.kind === kind ? [judgement.words] : []))
		.join("; ");
}
