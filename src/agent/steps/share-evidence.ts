import { pause } from "../../base/back-off.js";
import type { Clock } from "../../base/clock.js";
import { within } from "../../base/within.js";
import {
	EVIDENCE,
	type EvidenceRecord,
	type RankEvidence,
	shared,
} from "../../model/evidence.js";
import type { RunKeys } from "../../rendezvous/records/keys.js";
import {
	encodeRecord,
	informationAt,
} from "../../rendezvous/records/record-codec.js";
import { RECORD_VERSION } from "../../rendezvous/records/records.js";
import type { Store } from "../../rendezvous/store/store.js";

/** The first pause before the others are looked for again, in milliseconds; each next one is twice as long, up to … */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 320;

export interface ShareOptions {
	readonly clock: Clock;
	readonly store: Pick<Store, "snapshot">;
	readonly keys: RunKeys;
	readonly nodeId: string;
	/** Writes under this agent's lease. */
	readonly write: (key: string, value: string) => Promise<void>;
	readonly instance: number;
	readonly round: number;
	/** How many nodes the round has. */
	readonly seats: number;
	/** Those that make steps, and so have nothing to tell. */
	readonly moving: readonly string[];
	/** Older evidence, in milliseconds, is of an earlier standstill of the round. */
	readonly freshMs: number;
	/** Until when the other nodes and the store are waited for, on the clock. */
	readonly until: number;
}

/** The evidence of a round's nodes. */
export interface SharedEvidence {
	readonly evidence: readonly RankEvidence[];
	/** All nodes that stand still have told. */
	readonly isWhole: boolean;
}

/**
 * Publishes this node's evidence, and waits for that of the round's other nodes: they stand still as well, and notice it
 * within about a second. Returns what is there when the time is over; never rejects.
 */
export async function shareEvidence(
	own: readonly RankEvidence[],
	options: ShareOptions,
): Promise<SharedEvidence> {
	const { clock, keys, nodeId, write } = options;
	const { instance, round, seats, until, moving } = options;
	const awaited = seats - 1 - moving.length;
	if (seats === 1) return { evidence: own, isWhole: true };
	const record: EvidenceRecord = {
		...{ version: RECORD_VERSION, instance, round },
		at: Math.round(clock.wallTime()),
		ranks: own.map(shared),
	};
	const byThen = <Value>(asked: Promise<Value>) =>
		within(clock, until - clock.now(), asked).catch(() => undefined);
	await byThen(write(keys.evidenceOf(nodeId), encodeRecord(record)));
	let others: readonly EvidenceRecord[] = [];
	for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
		others = (await byThen(readOthers(options))) ?? others;
		if (others.length >= awaited || clock.now() >= until) break;
		const leftMs = until - clock.now();
		await pause(clock, Math.min(pauseMs, LONGEST_PAUSE_MS, leftMs));
	}
	return {
		evidence: [...own, ...others.flatMap(({ ranks }) => ranks)],
		isWhole: others.length >= awaited,
	};
}

async function readOthers({
	clock,
	store,
	keys,
	nodeId,
	instance,
	round,
	freshMs,
}: ShareOptions): Promise<readonly EvidenceRecord[]> {
	const snapshot = await store.snapshot([keys.evidence]);
	const from = clock.wallTime() - freshMs;
	return [...snapshot.entries.keys()]
		.filter((key) => key !== keys.evidenceOf(nodeId))
		.flatMap((key) => informationAt(EVIDENCE, snapshot, key, () => {}) ?? [])
		.filter(
			(one) =>
				one.round === round && one.instance === instance && one.at >= from,
		);
}
