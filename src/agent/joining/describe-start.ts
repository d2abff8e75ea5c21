import type { RoundRecord } from "../../rendezvous/records/records.js";

/** Describes the start of a round's workers. */
export function describeStart(
	{ synced, world }: RoundRecord,
	workers: number,
	kept: number,
): string {
	const of = `of ${world?.worldSize ?? 0} workers`;
	return kept === 0
		? `round ${synced}: started ${workers} ${of}`
		: `round ${synced}: ${kept} kept, ${workers - kept} started, ${of}`;
}
