import { pause } from "../base/back-off.js";
import { ElasticRunError } from "../base/errors.js";
import type { AgentConfig } from "../config/agent-config.js";
import { addressOf } from "../config/parse/endpoints.js";
import { reachStore } from "../rendezvous/access/reach-store.js";
import { Gateway } from "./gateway.js";
import { type Judgement, judgeAnswerer } from "./judge-answerer.js";
import { OtherRun, type OtherRunOptions } from "./other-run.js";

const LOOK_EVERY_MS = 500;

export interface FindOptions extends OtherRunOptions {
	readonly config: Pick<
		AgentConfig,
		"endpoints" | "runId" | "rendezvous" | "meeting"
	>;
	/** A number in [0, 1) that spreads the tries. */
	readonly random: () => number;
	/** Whether the launch was given up. */
	readonly isAborted: () => boolean;
}

/**
 * Waits until the etcd of this run answers at one of the endpoints, so that an agent never writes into another one. While
 * another run has an endpoint, it waits for that run's end.
 * @throws ElasticRunError USAGE if an endpoint belongs to another etcd; RENDEZVOUS_FAILED if another run has it for too
 * long; STORE_UNREACHABLE if none answers in time
 */
export async function findMeeting(options: FindOptions): Promise<void> {
	const { config, clock, random, log, isAborted } = options;
	const other = new OtherRun(options);
	const say = (words: string) => log.warn(words);
	const look = async () => {
		if (isAborted()) throw new ElasticRunError("ABORTED", "it was given up");
		const found = await Promise.all(
			config.endpoints.map((endpoint) => judge(endpoint, config.runId)),
		);
		const foreign = wordsOf(found, "foreign");
		if (foreign) throw new ElasticRunError("USAGE", foreign);
		const passing = wordsOf(found, "passing");
		if (passing || found.some(({ kind }) => kind === "ours")) return passing;
		throw new ElasticRunError(
			"STORE_UNREACHABLE",
			`the etcd of the run cannot be reached: ${wordsOf(found, "awaited")}`,
		);
	};
	for (;;) {
		const passing = await reachStore(look, { config, clock, random, say });
		if (!passing) return;
		other.see(passing);
		await pause(clock, LOOK_EVERY_MS);
	}
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
