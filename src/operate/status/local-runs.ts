import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
	findLocalAgents,
	type LocalAgent,
} from "../../node-files/local-agents.js";
import {
	decodeMirror,
	MIRROR_FILE,
	type Mirror,
} from "../../node-files/mirror-file.js";

/** A run whose state is in the memory of an agent on this machine. */
export interface LocalRun extends Mirror, LocalAgent {}

/** Runs of living agents, sorted by directory name. */
export function findLocalRuns(
	bases: readonly string[],
	uid: number,
): readonly LocalRun[] {
	return findLocalAgents(bases, uid).flatMap((agent) => {
		const mirror = readMirror(agent);
		return mirror === undefined ? [] : [{ ...mirror, ...agent }];
	});
}

/** Undefined if the agent keeps its state elsewhere. */
export function readMirror({ directory }: LocalAgent): Mirror | undefined {
	try {
		return decodeMirror(readFileSync(join(directory, MIRROR_FILE), "utf8"));
	} catch {
		// The agent ended meanwhile, or has not written it yet.
		return undefined;
	}
}
