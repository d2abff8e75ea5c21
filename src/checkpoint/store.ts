// One worker's view of a directory of checkpoints: it saves and loads in its round.
import { ElasticRunError } from "../base/errors.js";
import { bytesOf } from "./arrays.js";
import { CheckpointCadence } from "./cadence.js";
import { listDirectory } from "./directory.js";
import { RoundFence } from "./fence.js";
import { encodeHeader } from "./format.js";
import { type LoadedCheckpoint, loadNewest } from "./load.js";
import type { CheckpointNotices } from "./notices.js";
import type { CheckpointPosition, CheckpointToken } from "./order.js";
import { type CheckpointState, encodeState } from "./state.js";
import { CheckpointWriter, type WriterConfig } from "./writer.js";

/** Everything that a store needs; `openCheckpoints` fills it in. */
export interface CheckpointStoreConfig extends WriterConfig {
	/** Milliseconds; undefined: from the run's own history. */
	readonly meanTimeBetweenInterruptionsMs: number | undefined;
	readonly maxSteps: number;
	/** Undefined: nobody tells that this machine will go. */
	readonly notices?: CheckpointNotices;
}

/** A checkpoint that is safe on disk. */
export interface SavedCheckpoint extends CheckpointPosition {
	readonly path: string;
	readonly bytes: number;
	/** Milliseconds since 1970. */
	readonly savedAt: number;
	/** How long the trainer was blocked by it, in milliseconds. */
	readonly durationMs: number;
}

/** How often a load starts over because files change during it. */
const LOAD_ATTEMPTS = 5;

/** For how long a save or a load is announced, in seconds; it is over when it is done. */
const ANNOUNCED_SECONDS = 1_200;

/** One worker's checkpoints; made by `openCheckpoints`. */
export class CheckpointStore<State extends CheckpointState = CheckpointState> {
	private readonly config: CheckpointStoreConfig;
	private readonly cadence: CheckpointCadence;
	private readonly fence: RoundFence;
	private readonly writer: CheckpointWriter;
	/** It has said that a notice is a reason to save. */
	private hasSaidNotice = false;
	/** Names of files that this worker could not load. */
	private readonly damaged = new Set<string>();

	constructor(config: CheckpointStoreConfig) {
		this.config = config;
		this.cadence = new CheckpointCadence(config.maxSteps);
		this.fence = new RoundFence(config);
		this.writer = new CheckpointWriter(config, this.fence, this.damaged);
	}

	/** The token with which this worker writes. */
	get token(): CheckpointToken {
		return this.config.token;
	}

	/** The steps between two saves, as last decided; undefined before the first measurement. */
	get everySteps(): number | undefined {
		return this.cadence.everySteps;
	}

	/**
	 * Whether to save after this step (a number of completed steps): after the first one, then at the interval that loses
	 * the least work, and at least every `maxSteps`. And once when this worker's machine is about to go.
	 */
	shouldSave(step: number): boolean {
		if (this.isLastChance(step)) return true;
		const meanTimeMs =
			this.config.meanTimeBetweenInterruptionsMs ??
			this.fence.meanTimeBetweenInterruptionsMs();
		return this.cadence.isDue(step, this.config.clock.now(), meanTimeMs);
	}

	/** Whether a notice is a reason to save that it has not given yet. */
	private isLastChance(step: number): boolean {
		const isGoing = this.config.notices?.newest() !== undefined;
		if (!isGoing) this.hasSaidNotice = false;
		if (!isGoing || this.hasSaidNotice || this.cadence.isSaved(step))
			return false;
		this.hasSaidNotice = true;
		return true;
	}

	/**
	 * Saves a state, and deletes all but the newest `keep`. When it returns, the checkpoint is on disk; if it throws, the
	 * earlier ones are untouched. It is synchronous: the state cannot change during it and needs no copy. Throws an
	 * ElasticRunError CHECKPOINT if a newer round has taken over (this worker must end), if the directory cannot be
	 * written, or if the state is incomplete. When this worker's machine is about to go, a save tells the agent that the
	 * worker may be ended.
	 */
	save(state: State): SavedCheckpoint {
		return this.announced("checkpoint", () => this.saveNow(state));
	}

	private saveNow(state: State): SavedCheckpoint {
		const { token, clock } = this.config;
		const startedAt = clock.now();
		const savedAt = clock.wallTime();
		const encoded = encodeState(state);
		const position = { ...token, step: state.step };
		const parts = [
			encodeHeader(position, savedAt, encoded),
			...encoded.sections.map(bytesOf),
		];
		const saved = this.writer.write(position, parts);
		const durationMs = clock.now() - startedAt;
		this.cadence.saved(state.step, durationMs);
		const notice = this.config.notices?.newest();
		if (notice !== undefined) this.config.notices?.acknowledge(notice);
		return { ...position, ...saved, savedAt, durationMs };
	}

	/**
	 * The newest intact checkpoint; undefined if there is none yet. Call it at every start, so that the same command begins
	 * and resumes. It skips a damaged file with a warning. Throws an ElasticRunError CHECKPOINT if there are checkpoints
	 * and none is readable, or if a newer round has taken over.
	 *
	 * The first worker of a round that loads decides from which checkpoint the whole round continues. `claim: false` only
	 * looks, for programs that evaluate a run.
	 */
	loadLatest(
		options: { readonly claim?: boolean } = {},
	): LoadedCheckpoint<State> | undefined {
		return this.announced("load", () => this.loadNow(options.claim ?? true));
	}

	private loadNow(claim: boolean): LoadedCheckpoint<State> | undefined {
		const { directory, tokenIsShared, warn } = this.config;
		const claims = tokenIsShared && claim;
		for (let attempt = 1; attempt <= LOAD_ATTEMPTS; attempt += 1) {
			const listing = listDirectory(directory);
			if (claims) this.fence.refuseIfSuperseded(listing);
			const load = loadNewest<State>(directory, listing, this.damaged, warn);
			if (load === "changed") continue;
			if (!this.fence.settle(load?.name ?? null, this.damaged, claims)) {
				continue;
			}
			if (load !== undefined) this.cadence.restored(load.step);
			return load;
		}
		throw new ElasticRunError(
			"CHECKPOINT",
			`${directory}: the workers of this round do not find the same checkpoint to go on from. Make sure that every node sees this directory and can read it, and start again.`,
		);
	}

	private announced<Result>(
		busy: "checkpoint" | "load",
		work: () => Result,
	): Result {
		const { notices } = this.config;
		notices?.announce(busy, ANNOUNCED_SECONDS);
		try {
			return work();
		} finally {
			notices?.announce(busy, 0);
		}
	}
}
