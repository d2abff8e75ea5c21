import { closeSync, renameSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import type { StreamSelection } from "../model/index.js";
import { PrivateTree } from "./private-tree.js";

/** The parent of the prepared directories, beside those of the rounds. */
const WAITING = ".next";

/**
 * Directories with empty files for the streams, prepared for the next worker of each local rank. They are made while
 * there is time, and renamed when the round needs them.
 */
export class LogsAhead {
	private readonly nodeDirectory: string;
	/** The prepared directories, by local rank. */
	private readonly waiting = new Map<number, PrivateTree>();

	constructor(nodeDirectory: string) {
		this.nodeDirectory = nodeDirectory;
	}

	/** Prepares the directory unless it exists. Never throws. */
	make(localRank: number, redirect: StreamSelection): void {
		if (this.waiting.has(localRank)) return;
		try {
			const tree = PrivateTree.at(this.nodeDirectory);
			const directory = tree.makeDirectory(WAITING, String(localRank));
			this.waiting.set(localRank, tree);
			for (const name of ["stdout", "stderr"] as const) {
				if (redirect[name])
					closeSync(tree.append(streamFile(directory, name)).fd);
			}
		} catch {
			// If the problem lasts, opening the worker's logs reports it.
		}
	}

	/** Opens a stream's prepared file for appending; undefined if it is not prepared. Throws the system's error. */
	open(localRank: number, name: keyof StreamSelection): number | undefined {
		const tree = this.waiting.get(localRank);
		if (tree === undefined) return undefined;
		const directory = tree.find(WAITING, String(localRank));
		return tree.append(streamFile(directory, name)).fd;
	}

	/** Renames the prepared directory for this worker; false if there is no intact one, or the name is taken. */
	take(localRank: number, path: string): boolean {
		const tree = this.waiting.get(localRank);
		if (tree === undefined) return false;
		try {
			renameSync(tree.find(WAITING, String(localRank)), path);
		} catch {
			return false;
		}
		return this.waiting.delete(localRank);
	}

	/** Removes the directories that no worker has used. */
	discard(): void {
		for (const tree of this.waiting.values()) tree.discard();
		this.waiting.clear();
		try {
			rmdirSync(join(this.nodeDirectory, WAITING));
		} catch {
			// There was none, or somebody put something there.
		}
	}
}

export function streamFile(
	workerDirectory: string,
	name: keyof StreamSelection,
): string {
	return join(workerDirectory, `${name}.log`);
}
