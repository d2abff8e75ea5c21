import { type EvidenceRecord, shared, type Topic } from "../model/index.js";
import { LateWatch, type Snapshot, type Store } from "../store/index.js";
import { takeEvidence, type WatchedNode } from "./evidence.js";

/** An older question is no longer waited for, in milliseconds. */
const ASKED_WITHIN_MS = 10_000;
/** The most that evidence of a running round may take, in milliseconds. */
const ANSWER_WITHIN_MS = 3_000;

export interface WhyWatchOptions extends WatchedNode {
	readonly store: Pick<Store, "snapshot" | "watch">;
	/** The prefix of the questions' keys. */
	readonly asked: string;
	readonly answers: Pick<Topic<EvidenceRecord>, "publish">;
	/** The round that runs here; 0 if none does. */
	readonly round: () => { readonly instance: number; readonly round: number };
}

/** Answers `elastic-run why`: the command writes a key, and each agent then writes what its workers do. */
export class WhyWatch {
	private readonly watch: LateWatch;
	private isClosed = false;
	private isAnswering = false;
	private answered: ReadonlySet<string> = new Set();
	/** When this agent first saw each question, on its clock: the asker's may be another. */
	private seenAt: ReadonlyMap<string, number> = new Map();

	constructor(private readonly options: WhyWatchOptions) {
		this.watch = new LateWatch({
			...options,
			selectors: [options.asked],
			onLook: (snapshot) => this.look(snapshot),
		});
	}

	close(): void {
		this.isClosed = true;
		this.watch.close();
	}

	private look(snapshot: Snapshot): void {
		const ids = this.openQuestions(snapshot);
		const isNew = ids.some((id) => !this.answered.has(id));
		// A late answer must not replace a newer one: the next look comes after it.
		if (isNew && !this.isAnswering) void this.answer(ids);
	}

	/** Those that somebody still waits for: a new answer replaces the last one, and so must be one to them all. */
	private openQuestions(snapshot: Snapshot): readonly string[] {
		const { clock, asked } = this.options;
		const now = clock.now();
		const ids = [...snapshot.entries.keys()].map((key) =>
			key.slice(asked.length),
		);
		this.seenAt = new Map(ids.map((id) => [id, this.seenAt.get(id) ?? now]));
		return [...this.seenAt]
			.filter(([, seenAt]) => now - seenAt <= ASKED_WITHIN_MS)
			.map(([id]) => id);
	}

	private async answer(ids: readonly string[]): Promise<void> {
		this.isAnswering = true;
		this.answered = new Set(ids);
		await this.publish(ids);
		this.isAnswering = false;
		if (!this.isClosed) await this.watch.look();
	}

	private async publish(ids: readonly string[]): Promise<void> {
		const { clock, processes, round, answers } = this.options;
		const until = clock.now() + ANSWER_WITHIN_MS;
		const testimonies = await takeEvidence(processes(), this.options, until);
		await answers.publish({
			version: 1,
			...round(),
			asked: ids,
			at: Math.round(clock.wallTime()),
			ranks: testimonies.map(({ evidence }) => shared(evidence)),
		});
	}
}
