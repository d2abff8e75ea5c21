// Finds the newest intact checkpoint.
import { join } from "node:path";
import { ElasticRunError, messageOf, systemErrorCode } from "../base/errors.js";
import { type DirectoryListing, readClaims } from "./directory.js";
import { readCheckpointFile } from "./files.js";
import { type CheckpointFile, loadOrder } from "./order.js";

/** A checkpoint as it was saved. */
export interface LoadedCheckpoint<State> extends CheckpointFile {
	readonly path: string;
	readonly bytes: number;
	/** Milliseconds since 1970. */
	readonly savedAt: number;
	readonly state: State;
}

/**
 * Tries checkpoints from the newest back until one is intact. Warns of each damaged one and adds its name to `damaged`.
 * Undefined if there is none, "changed" if a file was deleted between the listing and the reading.
 */
export function loadNewest<State>(
	directory: string,
	listing: DirectoryListing,
	damaged: Set<string>,
	warn: (message: string) => void,
): LoadedCheckpoint<State> | undefined | "changed" {
	const order = loadOrder(
		listing.files,
		readClaims(directory, listing.claimTokens),
	);
	const problems: string[] = [];
	for (const [index, file] of order.entries()) {
		const path = join(directory, file.name);
		try {
			return load(file, path);
		} catch (error) {
			if (systemErrorCode(error) === "ENOENT") return "changed";
			problems.push(`${file.name}: ${messageOf(error)}`);
			const next = order[index + 1];
			if (next !== undefined && !damaged.has(file.name)) {
				warn(
					`The checkpoint ${path} cannot be used: ${messageOf(error)}. Going back to ${next.name}.`,
				);
			}
			damaged.add(file.name);
		}
	}
	if (order.length === 0) return undefined;
	throw new ElasticRunError(
		"CHECKPOINT",
		`None of the checkpoints in ${directory} can be used (${problems.join("; ")}). Put a good copy back, or move them away to train from the beginning.`,
	);
}

function load<State>(
	file: CheckpointFile,
	path: string,
): LoadedCheckpoint<State> {
	const { header, state, bytes } = readCheckpointFile(path);
	return {
		...file,
		path,
		bytes,
		savedAt: header.savedAt,
		// The checksum shows that this is what was saved; only the trainer knows its type.
		state: state as State,
	};
}
