import type { Clock } from "../../base/clock.js";
import { takeEvidence } from "../../evidence/take-evidence.js";
import { type EvidenceRecord, shared } from "../../model/evidence.js";
import type { RunKeys } from "../../rendezvous/records/keys.js";
import type { WorkerProgress } from "../../rendezvous/records/progress-record.js";
import { encodeRecord } from "../../rendezvous/records/record-codec.js";
import { RECORD_VERSION } from "../../rendezvous/records/records.js";
import { LateWatch } from "../../rendezvous/store/late-watch.js";
import type { Snapshot, Store } from "../../rendezvous/store/store.js";
import type { WorkerProcess } from "../workers/worker-process.js";
import { witnessesOf } from "./record-evidence.js";

/** An older question is no longer waited for, in milliseconds. */
const ASKED_WITHIN_MS = 10_000;
/** The most that evidence of a running round may take, in milliseconds. */
const ANSWER_WITHIN_MS = 3_000;

export interface WhyWatchOptions {
	readonly clock: Clock;
	readonly store: Pick<Store, "snapshot" | "watch">;
	readonly keys: RunKeys;
	readonly nodeId: string;
	/** The workers' working directory. */
	readonly cwd: string;
	/** Writes under this agent's lease. */
	readonly write: (key: string, value: string) => Promise<void>;
	/** The round that runs here; 0 if none does. */
	readonly round: () => { readonly instance: number; readonly round: number };
	readonly processes: () => readonly WorkerProcess[];
	readonly progress: () => readonly WorkerProgress[];
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
			selectors: [options.keys.asked],
			onLook: (snapshot) => this.look(snapshot),
		});
	}

	close(): void {
		this.isClosed = true;
		this.watch.close();
	}

	/** Answers new questions. */
	private look(snapshot: Snapshot): void {
		const ids = this.openQuestions(snapshot);
		const isNew = ids.some((id) => !this.answered.has(id));
		// A late answer must not replace a newer one: the next look comes after it.
		if (isNew && !this.isAnswering) void this.answer(ids);
	}

	/** Those that somebody still waits for: a new answer replaces the last one, and so must be one to them all. */
	private openQuestions(snapshot: Snapshot): readonly string[] {
		const { clock, keys } = this.options;
		const now = clock.now();
		const ids = [...snapshot.entries.keys()].map((key) =>
			key.slice(keys.asked.length),
		);
		this.seenAt = new Map(ids.map((id) => [id, this.seenAt.get(id) ?? now]));
		return [...this.seenAt]
			.filter(([, seenAt]) => now - seenAt <= ASKED_WITHIN_MS)
			.map(([id]) => id);
	}

	private async answer(ids: readonly string[]): Promise<void> {
		this.isAnswering = true;
		this.answered = new Set(ids);
		await this.tell(ids);
		this.isAnswering = false;
		if (!this.isClosed) await this.watch.look();
	}

	private async tell(ids: readonly string[]): Promise<void> {
		const { clock, nodeId, cwd, keys, write } = this.options;
		const until = clock.now() + ANSWER_WITHIN_MS;
		const testimonies = await takeEvidence(
			witnessesOf(this.options.processes(), this.options.progress()),
			{ clock, nodeId, cwd, until },
		);
		const ranks = testimonies.map(({ evidence }) => shared(evidence));
		const record: EvidenceRecord = {
			...{ version: RECORD_VERSION, ...this.options.round(), asked: ids },
			at: Math.round(clock.wallTime()),
			ranks,
		};
		await write(keys.answerOf(nodeId), encodeRecord(record));
	}
}
