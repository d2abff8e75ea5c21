// One worker's view of a directory of checkpoints: it saves and loads in its round.
import { join } from "node:path";
import { ElasticRunError, messageOf, systemErrorCode } from "../errors.js";
import { bytesOf } from "./checkpoint-arrays.js";
import { CheckpointCadence } from "./checkpoint-cadence.js";
import {
	type DirectoryListing,
	deleteFile,
	isInMemory,
	leftovers,
	listDirectory,
	makeDirectory,
	readClaims,
} from "./checkpoint-directory.js";
import { type FenceConfig, RoundFence } from "./checkpoint-fence.js";
import {
	type SaveStep,
	withDigest,
	writeFileAtomically,
} from "./checkpoint-files.js";
import { encodeHeader } from "./checkpoint-format.js";
import { type LoadedCheckpoint, loadNewest } from "./checkpoint-load.js";
import {
	type CheckpointPosition,
	type CheckpointToken,
	checkpointFileName,
	compareTokens,
	filesToDelete,
	temporaryFileName,
} from "./checkpoint-order.js";
import { type CheckpointState, encodeState } from "./checkpoint-state.js";

/** All that a store needs; `openCheckpoints` fills it in. */
export interface CheckpointStoreConfig extends FenceConfig {
	readonly keep: number;
	/** Milliseconds; undefined: from the run's own history. */
	readonly meanTimeBetweenInterruptionsMs: number | undefined;
	readonly maxSteps: number;
	/** For tests, which end the process there. */
	readonly onStep: (step: SaveStep) => void;
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
	/** Names of files that this worker could not load. */
	readonly #damaged = new Set<string>();
	#hasSaved = false;

	constructor(config: CheckpointStoreConfig) {
		this.#config = config;
		this.#cadence = new CheckpointCadence(config.maxSteps);
		this.#fence = new RoundFence(config);
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
		const saved = this.#explainFailure(() => this.#write(position, parts));
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

	#write(
		position: CheckpointPosition,
		parts: readonly Uint8Array[],
	): { readonly path: string; readonly bytes: number } {
		const { directory, unique, onStep } = this.#config;
		const name = checkpointFileName(position);
		onStep("started");
		this.#prepare(position);
		const bytes = writeFileAtomically(
			directory,
			name,
			temporaryFileName(name, unique),
			withDigest(parts),
			onStep,
		);
		this.#damaged.delete(name);
		const listing = listDirectory(directory);
		this.#fence.refuseIfSuperseded(listing);
		this.#prune(listing);
		return { path: join(directory, name), bytes };
	}

	#prepare(position: CheckpointPosition): void {
		const { directory, warn } = this.#config;
		makeDirectory(directory);
		const listing = listDirectory(directory);
		this.#fence.refuseIfSuperseded(listing);
		this.#refuseStepBack(position, listing);
		if (this.#hasSaved) return;
		this.#hasSaved = true;
		this.#fence.claimOnce(listing);
		if (isInMemory(directory)) {
			warn(
				`Checkpoints in ${directory} are kept in memory (tmpfs) and are lost when this machine restarts. Choose a directory on a disk that outlives it.`,
			);
		}
	}

	/** Within a round the higher step is taken for the newer one, so that a lower one would never be loaded. */
	#refuseStepBack(
		position: CheckpointPosition,
		{ files }: DirectoryListing,
	): void {
		const later = files.find(
			(file) =>
				compareTokens(file, position) === 0 &&
				file.step > position.step &&
				!this.#damaged.has(file.name),
		);
		if (later === undefined) return;
		throw new ElasticRunError(
			"CHECKPOINT",
			`Step ${position.step} was not saved: this round has saved step ${later.step} already (${join(this.#config.directory, later.name)}). Steps must rise within a round; load the latest checkpoint before going on.`,
		);
	}

	#prune(listing: DirectoryListing): void {
		const { directory, token, keep, onStep, warn } = this.#config;
		const claims = readClaims(directory, listing.claimTokens);
		const old = filesToDelete(
			listing.files,
			claims,
			keep,
			token,
			this.#damaged,
		).map(({ name }) => name);
		onStep("pruning");
		for (const name of [...leftovers(listing, token), ...old]) {
			try {
				deleteFile(directory, name);
			} catch (error) {
				warn(`An old checkpoint file stays: ${messageOf(error)}`);
			}
			onStep("pruned");
		}
	}

	#explainFailure<Result>(write: () => Result): Result {
		try {
			return write();
		} catch (error) {
			if (error instanceof ElasticRunError) throw error;
			const code = systemErrorCode(error);
			// A newer round deletes the unfinished files of older ones.
			if (code === "ENOENT") {
				this.#fence.refuseIfSuperseded(listDirectory(this.#config.directory));
			}
			const fix =
				code === "ENOSPC" || code === "EDQUOT"
					? "The disk is full: free some space, or choose another directory"
					: "Make the directory writable, or choose another one";
			throw new ElasticRunError(
				"CHECKPOINT",
				`No checkpoint was saved in ${this.#config.directory}: ${messageOf(error)}. ${fix}. The checkpoints before this one are untouched.`,
				{ cause: error },
			);
		}
	}
}
