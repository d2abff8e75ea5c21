// Writes a worker's checkpoints, if its round may still write, and deletes old ones.
import { join } from "node:path";
import { ElasticRunError, messageOf, systemErrorCode } from "../base/errors.js";
import {
	type DirectoryListing,
	deleteFile,
	isInMemory,
	leftovers,
	listDirectory,
	makeDirectory,
	readClaims,
} from "./directory.js";
import type { FenceConfig, RoundFence } from "./fence.js";
import { type SaveStep, withDigest, writeFileAtomically } from "./files.js";
import {
	type CheckpointPosition,
	checkpointFileName,
	compareTokens,
	filesToDelete,
	temporaryFileName,
} from "./order.js";

export interface WriterConfig extends FenceConfig {
	/** How many checkpoints are kept. */
	readonly keep: number;
	/** For tests, which end the process there. */
	readonly onStep: (step: SaveStep) => void;
}

export interface WrittenFile {
	readonly path: string;
	readonly bytes: number;
}

export class CheckpointWriter {
	private readonly config: WriterConfig;
	private readonly fence: RoundFence;
	private readonly damaged: Set<string>;
	private hasWritten = false;

	/** `damaged`: names of files that could not be loaded, shared with the loader. */
	constructor(config: WriterConfig, fence: RoundFence, damaged: Set<string>) {
		this.config = config;
		this.fence = fence;
		this.damaged = damaged;
	}

	/** Throws an ElasticRunError CHECKPOINT that names the fix, and leaves the existing files untouched. */
	write(
		position: CheckpointPosition,
		parts: readonly Uint8Array[],
	): WrittenFile {
		try {
			return this.writeFiles(position, parts);
		} catch (error) {
			if (error instanceof ElasticRunError) throw error;
			throw this.explain(error);
		}
	}

	private writeFiles(
		position: CheckpointPosition,
		parts: readonly Uint8Array[],
	): WrittenFile {
		const { directory, disk, unique, onStep } = this.config;
		const name = checkpointFileName(position);
		onStep("started");
		this.prepare(position);
		const bytes = writeFileAtomically(
			disk,
			directory,
			{ name, temporary: temporaryFileName(name, unique) },
			withDigest(parts),
			onStep,
		);
		this.damaged.delete(name);
		const listing = listDirectory(directory);
		this.fence.refuseIfSuperseded(listing);
		this.prune(listing);
		return { path: join(directory, name), bytes };
	}

	private prepare(position: CheckpointPosition): void {
		const { directory, disk, warn } = this.config;
		makeDirectory(disk, directory);
		const listing = listDirectory(directory);
		this.fence.refuseIfSuperseded(listing);
		this.refuseStepBack(position, listing);
		if (this.hasWritten) return;
		this.hasWritten = true;
		this.fence.claimOnce(listing);
		if (isInMemory(directory)) {
			warn(
				`Checkpoints in ${directory} are kept in memory (tmpfs) and are lost when this machine restarts. Choose a directory on a disk that outlives it.`,
			);
		}
	}

	/** Within a round the higher step counts as the newer one, so a lower one would never be loaded. */
	private refuseStepBack(
		position: CheckpointPosition,
		{ files }: DirectoryListing,
	): void {
		const later = files.find(
			(file) =>
				compareTokens(file, position) === 0 &&
				file.step > position.step &&
				!this.damaged.has(file.name),
		);
		if (later === undefined) return;
		throw new ElasticRunError(
			"CHECKPOINT",
			`Step ${position.step} was not saved: this round has saved step ${later.step} already (${join(this.config.directory, later.name)}). Steps must rise within a round; load the latest checkpoint before going on.`,
		);
	}

	private prune(listing: DirectoryListing): void {
		const { directory, token, keep, onStep, warn } = this.config;
		const claims = readClaims(directory, listing.claimTokens);
		const old = filesToDelete(
			listing.files,
			claims,
			keep,
			token,
			this.damaged,
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

	private explain(error: unknown): ElasticRunError {
		const { directory } = this.config;
		const code = systemErrorCode(error);
		// A newer round deletes the unfinished files of older ones.
		if (code === "ENOENT") {
			this.fence.refuseIfSuperseded(listDirectory(directory));
		}
		const fix =
			code === "ENOSPC" || code === "EDQUOT"
				? "The disk is full: free some space, or choose another directory"
				: "Make the directory writable, or choose another one";
		return new ElasticRunError(
			"CHECKPOINT",
			`No checkpoint was saved in ${directory}: ${messageOf(error)}. ${fix}. The checkpoints before this one are untouched.`,
			{ cause: error },
		);
	}
}
