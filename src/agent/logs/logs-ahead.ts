import { closeSync, renameSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import type { StreamSelection } from "../configuration/agent-config.js";
import { PrivateTree } from "./private-tree.js";

/** Where they wait, beside the directories of the rounds. */
const WAITING = ".next";

/**
 * Directories, with empty files for the streams, that the next worker of a local
 * rank gets: made while there is time, and given their round's name when there is none.
 */
export class LogsAhead {
	readonly #nodeDirectory: string;
	/** By local rank, those that no worker has got yet. */
	readonly #waiting = new Map<number, PrivateTree>();

	constructor(nodeDirectory: string) {
		this.#nodeDirectory = nodeDirectory;
	}

	/** Where that is not done yet. Never throws. */
	make(localRank: number, redirect: StreamSelection): void {
		if (this.#waiting.has(localRank)) return;
		try {
			const tree = PrivateTree.at(this.#nodeDirectory);
			const directory = tree.makeDirectory(WAITING, String(localRank));
			this.#waiting.set(localRank, tree);
			for (const name of ["stdout", "stderr"] as const) {
				if (redirect[name])
					closeSync(tree.append(streamFile(directory, name)).fd);
			}
		} catch {
			// Who wants them hears of that, if it still is so then.
		}
	}

	/** Gives the directory that waits for this worker its name; false where there is none as it was made, or the name is taken. */
	take(localRank: number, path: string): boolean {
		const tree = this.#waiting.get(localRank);
		if (tree === undefined) return false;
		try {
			renameSync(tree.find(WAITING, String(localRank)), path);
		} catch {
			return false;
		}
		return this.#waiting.delete(localRank);
	}

	/** Removes those that no worker has got. */
	discard(): void {
		for (const tree of this.#waiting.values()) tree.discard();
		this.#waiting.clear();
		try {
			rmdirSync(join(this.#nodeDirectory, WAITING));
		} catch {
			// There never was one, or somebody has put something there.
		}
	}
}

/** Where a stream of a worker goes. */
export function streamFile(
	workerDirectory: string,
	name: keyof StreamSelection,
): string {
	return join(workerDirectory, `${name}.log`);
}
