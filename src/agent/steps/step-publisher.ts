import type { Clock } from "../../base/clock.js";
import type { ProgressRecord } from "../../rendezvous/records/progress-record.js";
import { RECORD_VERSION } from "../../rendezvous/records/records.js";

/** The least time between two writes to the store, in milliseconds. */
const EVERY_MS = 2_000;

export interface StepPublisherOptions {
	readonly clock: Clock;
	readonly nodeId: string;
	readonly publish: (record: ProgressRecord) => void;
}

/** Publishes a node's steps when they have changed, and not often. */
export class StepPublisher {
	private publishedAt = Number.NEGATIVE_INFINITY;
	private published = "";

	constructor(private readonly options: StepPublisherOptions) {}

	offer(record: Omit<ProgressRecord, "version" | "nodeId">): void {
		const { clock, nodeId, publish } = this.options;
		const now = clock.now();
		const isEmpty =
			record.workers.length === 0 && record.busyUntil === undefined;
		if (now - this.publishedAt < EVERY_MS || isEmpty) return;
		const steps = record.workers.map(
			({ localRank, step }) => `${localRank}:${step}`,
		);
		const { instance, round, hang, busyUntil } = record;
		const news = `${instance} ${round} ${steps.join()} ${hang?.since} ${busyUntil}`;
		if (news === this.published) return;
		this.published = news;
		this.publishedAt = now;
		publish({ version: RECORD_VERSION, nodeId, ...record });
	}
}
