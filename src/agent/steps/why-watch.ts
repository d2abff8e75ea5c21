import type { Clock } from "../../base/clock.js";
import {
	ASKED,
	type EvidenceRecord,
	shared,
} from "../../evidence/evidence-record.js";
import { takeEvidence } from "../../evidence/take-evidence.js";
import type { RunKeys } from "../../rendezvous/records/keys.js";
import type { WorkerProgress } from "../../rendezvous/records/progress-record.js";
import {
	encodeRecord,
	informationAt,
} from "../../rendezvous/records/record-codec.js";
import { RECORD_VERSION } from "../../rendezvous/records/records.js";
import type { Store, Watch } from "../../rendezvous/store/store.js";
import type { WorkerProcess } from "../workers/worker-member.js";
import { witnessesOf } from "./record-evidence.js";

/** A start is not delayed by what is seldom asked, in milliseconds. */
const OPEN_AFTER_MS = 1_000;
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
	/** The round that runs here; undefined if none does. */
	readonly round: () => { readonly instance: number; readonly round: number };
	readonly processes: () => readonly WorkerProcess[];
	readonly progress: () => readonly WorkerProgress[];
}

/** Answers `elastic-run why`: whoever asks writes one key, and each agent writes what its workers do. */
export class WhyWatch {
	private watch: Watch | undefined;
	private isClosed = false;
	private answered: string | undefined;
	private readonly cancelOpen: () => void;

	constructor(private readonly options: WhyWatchOptions) {
		const { clock } = options;
		this.cancelOpen = clock.wakeAt(clock.now() + OPEN_AFTER_MS, () => {
			void this.open();
		});
	}

	close(): void {
		this.isClosed = true;
		this.cancelOpen();
		this.watch?.close();
	}

	/** An earlier question is not answered: nobody waits for that any more. */
	private async open(): Promise<void> {
		const { store, keys } = this.options;
		const asked = await this.read();
		if (this.isClosed || asked === undefined) return;
		this.answered = asked.id;
		this.watch = store.watch([keys.asked], asked.revision, () => {
			void this.look();
		});
	}

	private async look(): Promise<void> {
		const id = (await this.read())?.id;
		if (id === undefined || id === this.answered || this.isClosed) return;
		this.answered = id;
		const { clock, nodeId, cwd, keys, write } = this.options;
		const until = clock.now() + ANSWER_WITHIN_MS;
		const testimonies = await takeEvidence(
			witnessesOf(this.options.processes(), this.options.progress()),
			{ clock, nodeId, cwd, until },
		);
		const ranks = testimonies.map(({ evidence }) => shared(evidence));
		const record: EvidenceRecord = {
			...{ version: RECORD_VERSION, ...this.options.round(), asked: id },
			ranks,
		};
		await write(keys.evidenceOf(nodeId), encodeRecord(record));
	}

	/** The last question, and when it was read; undefined if the store does not answer. */
	private async read(): Promise<
		{ readonly id: string | undefined; readonly revision: number } | undefined
	> {
		const { store, keys } = this.options;
		try {
			const snapshot = await store.snapshot([keys.asked]);
			const asked = informationAt(ASKED, snapshot, keys.asked, () => {});
			return { id: asked?.id, revision: snapshot.revision };
		} catch {
			return undefined;
		}
	}
}
