import { pause } from "../base/back-off.js";
import type { Clock } from "../base/clock.js";
import { ElasticRunError } from "../base/errors.js";
import type { Logger } from "../base/logger.js";
import {
	type AgentConfig,
	addressOf,
	durationInWords,
} from "../config/index.js";
import { reachStore } from "../rendezvous/index.js";
import { type Answerer, Gateway } from "./gateway.js";

/** What an answer at an endpoint means for an agent whose run meets there. */
type Judgement =
	/** The etcd of this run. */
	| { readonly kind: "ours" }
	/** Nothing answers yet. */
	| { readonly kind: "awaited"; readonly words: string }
	/** The etcd of another run: it ends with that run. */
	| { readonly kind: "passing"; readonly words: string }
	/** It does not end by itself. */
	| { readonly kind: "foreign"; readonly words: string };

/** Judges an answer at an endpoint. The words explain it and give the fix. */
export function judgeAnswerer(
	answerer: Answerer,
	{ runId, endpoint }: { readonly runId: string; readonly endpoint: string },
): Judgement {
	switch (answerer.kind) {
		case "nobody":
			return { kind: "awaited", words: `nothing listens at ${endpoint}` };
		case "mute":
			return { kind: "awaited", words: `${endpoint} gives no answer` };
		case "stranger":
			return {
				kind: "foreign",
				words: takenWords(endpoint, "something that is no etcd of this run"),
			};
		case "etcd":
			if (answerer.runId === runId) return { kind: "ours" };
			if (answerer.runId !== undefined) {
				const words = `run ${answerer.runId} still uses ${endpoint}`;
				return { kind: "passing", words };
			}
			return {
				kind: "foreign",
				words: takenWords(
					endpoint,
					"an etcd that was not started for a run; to use it give --rdzv-backend etcd",
				),
			};
	}
}

/** Says that another process has the port, and what to do. */
export function takenWords(endpoint: string, who: string): string {
	const { port } = addressOf(endpoint);
	return `${endpoint} is taken by ${who}; give another port in --rdzv-endpoint, on every node (on that machine, ss -ltnp 'sport = :${port}' shows the process)`;
}

const SAY_EVERY_MS = 10_000;

interface OtherRunOptions {
	readonly config: Pick<AgentConfig, "runId" | "rendezvous">;
	readonly clock: Clock;
	readonly log: Pick<Logger, "warn">;
}

/** The wait for the end of another run at this run's endpoint, at most for the join time-out. */
export class OtherRun {
	private readonly until: number;
	private sayAt: number;

	constructor(private readonly options: OtherRunOptions) {
		const { clock, config } = options;
		this.sayAt = clock.now();
		this.until = this.sayAt + config.rendezvous.joinTimeoutMs;
	}

	/**
	 * Call it with each look that finds the other run.
	 * @param words which run uses which endpoint
	 * @throws ElasticRunError RENDEZVOUS_FAILED when the join time-out is over
	 */
	see(words: string): void {
		const { clock, config, log } = this.options;
		const { runId, rendezvous } = config;
		const limit = `join_timeout (${durationInWords(rendezvous.joinTimeoutMs)})`;
		const fix =
			"for both at once give another port in --rdzv-endpoint, and if they are one run the same --rdzv-id, on every node";
		if (clock.now() >= this.until) {
			throw new ElasticRunError(
				"RENDEZVOUS_FAILED",
				`${words}, and has not ended within ${limit}: ${fix}`,
			);
		}
		if (clock.now() < this.sayAt) return;
		this.sayAt = clock.now() + SAY_EVERY_MS;
		log.warn(
			`${words}: run ${runId} waits for its end, up to ${limit}; ${fix}`,
		);
	}
}

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
 * @param isOver asked while nothing answers: whether this agent waits no longer
 * @throws ElasticRunError USAGE if an endpoint belongs to another etcd; RENDEZVOUS_FAILED if another run has it for too
 * long; STORE_UNREACHABLE if none answers in time
 */
export async function findMeeting(
	options: FindOptions,
	isOver: () => Promise<boolean> = async () => false,
): Promise<void> {
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
		if (await isOver()) return "";
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

/** Judges what answers at an endpoint now. */
export async function judge(
	endpoint: string,
	runId: string,
): Promise<Judgement> {
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
