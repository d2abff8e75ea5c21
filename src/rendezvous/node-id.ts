import type { NodeRecord } from "./records.js";

/** The longest that a node id may be: it is a part of keys and of file names. */
const LONGEST_NAME = 128;

/** What an agent that was given no node id may be called: `host`, `host-2`, `host-3`, …, from the one of this number. */
export function nodeIdCandidates(
	host: string,
	from: number,
	count: number,
): readonly string[] {
	return Array.from({ length: count }, (_, index) =>
		numbered(host, from + index),
	);
}

/**
 * The first candidate that no record names, or only one whose process is gone:
 * so the agent that takes a dead one's place gets its name, and with it its
 * ranks. Undefined where others have them all.
 * @param records of the run, by node id
 * @param isDead whether the process that wrote a record is certainly gone
 */
export function freeNodeId(
	candidates: readonly string[],
	records: ReadonlyMap<string, NodeRecord>,
	isDead: (holder: NodeRecord) => boolean,
): string | undefined {
	return candidates.find((nodeId) => {
		const holder = records.get(nodeId);
		return holder === undefined || isDead(holder);
	});
}

function numbered(host: string, number: number): string {
	const suffix = number === 1 ? "" : `-${number}`;
	return `${host.slice(0, LONGEST_NAME - suffix.length)}${suffix}`;
}
