import type { Clock } from "../../base/clock.js";
import { type EvidenceRecord, shared } from "../../evidence/evidence-record.js";
import { takeEvidence } from "../../evidence/take-evidence.js";
import type { RunKeys } from "../../rendezvous/records/keys.js";
import type { WorkerProgress } from "../../rendezvous/records/progress-record.js";
import { encodeRecord } from "../../rendezvous/records/record-codec.js";
import { RECORD_VERSION } from "../../rendezvous/records/records.js";
import type { Snapshot, Store, Watch } from "../../rendezvous/store/store.js";
import type { WorkerProcess } from "../workers/worker-process.js";
import { witnessesOf } from "./record-evidence.js";

/** A start is not delayed by what is seldom asked; a store that does not answer is asked again so often. In milliseconds. */
const OPEN_AFTER_MS = 1_000;
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
	private watch: Watch | undefined;
	private isClosed = false;
	private isAnswering = false;
	private answered: ReadonlySet<string> = new Set();
	/** When this agent first saw each question, on its clock: the asker's may be another. */
	private seenAt: ReadonlyMap<string, number> = new Map();
	private cancelOpen: () => void = () => {};

	constructor(private readonly options: WhyWatchOptions) {
		this.openLater();
	}

	close(): void {
		this.isClosed = true;
		this.cancelOpen();
		this.watch?.close();
	}

	private openLater(): void {
		const { clock } = this.options;
		this.cancelOpen = clock.wakeAt(clock.now() + OPEN_AFTER_MS, () => {
			void this.open();
		});
	}

	private async open(): Promise<void> {
		const { store, keys } = this.options;
		const { revision } = await this.look();
		if (this.isClosed) return;
		if (revision === undefined) return this.openLater();
		this.watch = store.watch([keys.asked], revision, () => void this.look());
	}

	/** Answers new questions. Resolves with the revision of the look; undefined if the store did not answer. */
	private async look(): Promise<{ readonly revision: number | undefined }> {
		const { store, keys } = this.options;
		try {
			const snapshot = await store.snapshot([keys.asked]);
			const { revision } = snapshot;
			const ids = this.openQuestions(snapshot);
			const isNew = ids.some((id) => !this.answered.has(id));
			// A late answer must not replace a newer one: the next look comes after it.
			if (isNew && !this.isAnswering && !this.isClosed) void this.answer(ids);
			return { revision };
		} catch {
			return { revision: undefined };
		}
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
		await this.look();
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
