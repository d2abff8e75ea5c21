import type { NodeRecord } from "./records.js";

/** The longest node id: it is part of keys and of file names. */
const LONGEST_NAME = 128;

/** The possible names of an agent without a given node id: `host`, `host-2`, `host-3`, …, from this number on. */
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
 * The first candidate without a record, or with one whose process is gone: an agent that replaces a dead one gets its
 * name, and with it its ranks. Undefined if all are taken.
 * @param records those of the run, by node id
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
