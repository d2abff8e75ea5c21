// One worker's view of a directory of checkpoints: it saves and loads in its round.
import { ElasticRunError } from "../errors.js";
import { bytesOf } from "./checkpoint-arrays.js";
import { CheckpointCadence } from "./checkpoint-cadence.js";
import { listDirectory } from "./checkpoint-directory.js";
import { RoundFence } from "./checkpoint-fence.js";
import { encodeHeader } from "./checkpoint-format.js";
import { type LoadedCheckpoint, loadNewest } from "./checkpoint-load.js";
import type {
	CheckpointPosition,
	CheckpointToken,
} from "./checkpoint-order.js";
import { type CheckpointState, encodeState } from "./checkpoint-state.js";
import { CheckpointWriter, type WriterConfig } from "./checkpoint-writer.js";

/** All that a store needs; `openCheckpoints` fills it in. */
export interface CheckpointStoreConfig extends WriterConfig {
	/** Milliseconds; undefined: from the run's own history. */
	readonly meanTimeBetweenInterruptionsMs: number | undefined;
	readonly maxSteps: number;
}

/** A checkpoint that is safe on disk. */
export interface SavedCheckpoint extends CheckpointPosition {
	readonly path: string;
	readonly bytes: number;
	/** Milliseconds since 1970. */
	readonly savedAt: number;
	/** How long the trainer stood still for it, in milliseconds. */
	readonly durationMs: number;
}

/** How often a load starts over because files come and go under it. */
const LOAD_ATTEMPTS = 5;

/** One worker's checkpoints; `openCheckpoints` makes it. */
export class CheckpointStore<State extends CheckpointState = CheckpointState> {
	readonly #config: CheckpointStoreConfig;
	readonly #cadence: CheckpointCadence;
	readonly #fence: RoundFence;
	readonly #writer: CheckpointWriter;
	/** Names of files that this worker could not load. */
	readonly #damaged = new Set<string>();

	constructor(config: CheckpointStoreConfig) {
		this.#config = config;
		this.#cadence = new CheckpointCadence(config.maxSteps);
		this.#fence = new RoundFence(config);
		this.#writer = new CheckpointWriter(config, this.#fence, this.#damaged);
	}

	/** Under which this worker writes. */
	get token(): CheckpointToken {
		return this.#config.token;
	}

	/** The steps between two saves, as last decided; undefined before there is a measure. */
	get everySteps(): number | undefined {
		return this.#cadence.everySteps;
	}

	/**
	 * Whether to save after this step (a number of completed steps): after the
	 * first one, then at the interval that loses the least work, and at least
	 * every `maxSteps`.
	 */
	shouldSave(step: number): boolean {
		const meanTimeMs =
			this.#config.meanTimeBetweenInterruptionsMs ??
			this.#fence.meanTimeBetweenInterruptionsMs();
		return this.#cadence.isDue(step, this.#config.clock.now(), meanTimeMs);
	}

	/**
	 * Saves a state, and deletes what is older than the newest `keep`. When it
	 * returns, the checkpoint is on disk; if it throws, those before it are
	 * untouched. Synchronous: the state cannot change under it and needs no
	 * copy. Throws an ElasticRunError CHECKPOINT where a newer round has taken
	 * over (this worker must end), where the directory cannot be written, and
	 * where the state is not complete.
	 */
	save(state: State): SavedCheckpoint {
		const { token, clock } = this.#config;
		const startedAt = clock.now();
		const savedAt = clock.wallTime();
		const encoded = encodeState(state);
		const position = { ...token, step: state.step };
		const parts = [
			encodeHeader(position, savedAt, encoded),
			...encoded.sections.map(bytesOf),
		];
		const saved = this.#writer.write(position, parts);
		const durationMs = clock.now() - startedAt;
		this.#cadence.saved(state.step, durationMs);
		return { ...position, ...saved, savedAt, durationMs };
	}

	/**
	 * The newest checkpoint that is whole; undefined where there is none yet.
	 * Called at every start, so that the same command begins and resumes. A
	 * damaged file is skipped with a warning. Throws an ElasticRunError
	 * CHECKPOINT where there are checkpoints and none can be read, and where a
	 * newer round has taken over.
	 *
	 * The first worker of a round that loads settles what the whole round goes
	 * on from; `claim: false` only looks, for programs that evaluate a run.
	 */
	loadLatest(
		options: { readonly claim?: boolean } = {},
	): LoadedCheckpoint<State> | undefined {
		const { directory, tokenIsShared, warn } = this.#config;
		const claims = tokenIsShared && (options.claim ?? true);
		for (let attempt = 1; attempt <= LOAD_ATTEMPTS; attempt += 1) {
			const listing = listDirectory(directory);
			if (claims) this.#fence.refuseIfSuperseded(listing);
			const load = loadNewest<State>(directory, listing, this.#damaged, warn);
			if (load === "changed") continue;
			if (!this.#fence.settle(load?.name ?? null, this.#damaged, claims)) {
				continue;
			}
			if (load !== undefined) this.#cadence.restored(load.step);
			return load;
		}
		throw new ElasticRunError(
			"CHECKPOINT",
			`${directory}: the workers of this round do not find the same checkpoint to go on from. Make sure that every node sees this directory and can read it, and start again.`,
		);
	}
}
