import type { ColdKind } from "../model/index.js";
import type { LedgerRecord } from "../rendezvous/index.js";

/** How a node started its workers in a round. */
export interface NodeStart {
	readonly nodeId: string;
	/** How many were forked with their imports, and how many were not. */
	readonly warm: number;
	readonly cold: number;
	/** Why it started some cold; null if it started none. */
	readonly reason: string | null;
	/** The class of that reason; null without one, and if an older launcher has written the record. */
	readonly kind: ColdKind | null;
	/** From the start of its workers to its first step, in milliseconds; null if there was none. */
	readonly toFirstMs: number | null;
	/** How much less that was than in its last cold start before, in milliseconds; null for a cold one, or if it is not known. */
	readonly savedMs: number | null;
}

/** The nodes that say how they started their workers in this round, by name. Empty without warm starts. */
export function startsOfRound(
	records: readonly LedgerRecord[],
	round: number,
): readonly NodeStart[] {
	return records
		.flatMap((record) => {
			const { nodeId, starts } = record;
			if (record.round !== round || starts === undefined) return [];
			const { warm, cold, reason = null, kind = null } = starts;
			const toFirstMs = timeToFirst(record);
			const before = lastCold(records, record);
			const isKnown = cold === 0 && toFirstMs !== null && before !== null;
			const savedMs = isKnown ? before - toFirstMs : null;
			return [{ nodeId, warm, cold, reason, kind, toFirstMs, savedMs }];
		})
		.sort((left, right) => (left.nodeId < right.nodeId ? -1 : 1));
}

/**
 * What the warm start of a round has saved, in milliseconds; null if it is not known, or some workers started cold. A round
 * goes on with its slowest node, so what the node saved that saved least counts.
 */
export function savedBy(starts: readonly NodeStart[]): number | null {
	const saved = starts.flatMap(({ savedMs }) => savedMs ?? []);
	const isWarm = starts.every(({ cold }) => cold === 0);
	return isWarm && saved.length > 0 ? Math.min(...saved) : null;
}

/** What the warm starts of these rounds have saved together, in milliseconds; null if it is not known of any. */
export function savedByAll(
	rounds: readonly { readonly starts: readonly NodeStart[] }[],
): number | null {
	const saved = rounds.flatMap(({ starts }) => savedBy(starts) ?? []);
	return saved.length === 0
		? null
		: saved.reduce((sum, savedMs) => sum + savedMs, 0);
}

function lastCold(
	records: readonly LedgerRecord[],
	{ nodeId, round }: LedgerRecord,
): number | null {
	const times = records
		.filter((one) => one.nodeId === nodeId && one.round < round)
		.filter(({ starts }) => starts?.warm === 0)
		.sort((left, right) => left.round - right.round)
		.flatMap((one) => timeToFirst(one) ?? []);
	return times.at(-1) ?? null;
}

function timeToFirst({ startedAt, steps }: LedgerRecord): number | null {
	if (startedAt === null || steps === null) return null;
	return Math.max(0, steps.firstAt - startedAt);
}
