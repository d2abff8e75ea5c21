import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findLocalAgents, type LocalAgent } from "./local-agents.js";
import { decodeMirror, MIRROR_FILE, type Mirror } from "./mirror-file.js";

/** A run whose state is in the memory of an agent of this machine. */
export interface LocalRun extends Mirror, LocalAgent {}

/** Runs of living agents, in the order of their directories' names. */
export function findLocalRuns(
	bases: readonly string[],
	uid: number,
): readonly LocalRun[] {
	return findLocalAgents(bases, uid).flatMap((agent) => {
		const mirror = readMirror(agent);
		return mirror === undefined ? [] : [{ ...mirror, ...agent }];
	});
}

/** Undefined where the agent keeps its state elsewhere. */
export function readMirror({ directory }: LocalAgent): Mirror | undefined {
	try {
		return decodeMirror(readFileSync(join(directory, MIRROR_FILE), "utf8"));
	} catch {
		// It ended meanwhile, or has not got so far yet.
		return undefined;
	}
}
