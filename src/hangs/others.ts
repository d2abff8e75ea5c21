import { pause } from "../base/back-off.js";
import type { Clock } from "../base/clock.js";
import { within } from "../base/within.js";
import {
	type EvidenceRecord,
	ofRound,
	type ProgressRecord,
	type RankEvidence,
	shared,
	type Topic,
} from "../model/index.js";

export interface PlaceInRound {
	readonly clock: Clock;
	readonly nodeId: string;
	readonly instance: number;
	readonly round: number;
}

/** What the other nodes of a round do while this one stands still. */
export interface OthersNow {
	/** Until when one has announced that no step comes, in milliseconds since 1970; 0 if none has. */
	readonly busyUntil: number;
	/** Those that make steps: they do not wait for this one. */
	readonly moving: readonly string[];
	/** One has made a step in this round, however long ago. */
	readonly haveStepped: boolean;
}

/** Nodes that wait for each other stand still within one step, but notice their steps up to so late, in milliseconds. */
const LATE_MS = 2_000;
/** The same where a step takes long, and for clocks that differ: a part of the limit. */
const LATE_PART = 0.25;

const NONE: ReadonlyMap<string, ProgressRecord> = new Map();

/**
 * Nothing is known of them if the store does not answer in time.
 * @param stillSince when this node made its last step, in milliseconds since 1970
 */
export async function othersNow(
	progress: Pick<Topic<ProgressRecord>, "read">,
	place: PlaceInRound,
	{
		stillSince,
		limitMs,
		withinMs,
	}: {
		readonly stillSince: number;
		readonly limitMs: number;
		readonly withinMs: number;
	},
): Promise<OthersNow> {
	const read = await within(place.clock, withinMs, progress.read());
	const others = ofRound(read ?? NONE, place).filter(
		([nodeId]) => nodeId !== place.nodeId,
	);
	const from = stillSince + Math.max(LATE_MS, LATE_PART * limitMs);
	const moving = others.filter(([, { workers }]) =>
		workers.some(({ stepAt }) => stepAt > from),
	);
	const busy = others.map(([, { busyUntil = 0 }]) => busyUntil);
	return {
		// The workers here may wait for that one.
		busyUntil: Math.max(0, ...busy),
		moving: moving.map(([nodeId]) => nodeId),
		haveStepped: others.some(([, { workers }]) => workers.length > 0),
	};
}

/** The first pause before the others are looked for again, in milliseconds; each next one is twice as long, up to … */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 320;

/** The evidence of a round's nodes. */
export interface SharedEvidence {
	readonly evidence: readonly RankEvidence[];
	/** All nodes that stand still have published theirs. */
	readonly isWhole: boolean;
}

/**
 * Publishes this node's evidence, and waits for that of the round's other nodes: they stand still as well, and notice it
 * within about a second. Returns what is there when the time is over; never rejects.
 */
export async function shareEvidence(
	own: readonly RankEvidence[],
	topic: Topic<EvidenceRecord>,
	{ clock, nodeId, ...place }: PlaceInRound,
	{
		others: count,
		freshMs,
		until,
	}: {
		/** How many other nodes stand still as well. */
		readonly others: number;
		/** Older evidence, in milliseconds, is of an earlier standstill of the round. */
		readonly freshMs: number;
		/** Until when the other nodes and the store are waited for, on the clock. */
		readonly until: number;
	},
): Promise<SharedEvidence> {
	const { instance, round } = place;
	const byThen = <Value>(asked: Promise<Value>) =>
		within(clock, until - clock.now(), asked);
	const at = Math.round(clock.wallTime());
	const ranks = own.map(shared);
	await byThen(topic.publish({ version: 1, instance, round, at, ranks }));
	let others: readonly EvidenceRecord[] = [];
	for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
		const read = await byThen(topic.read());
		if (read !== undefined) {
			const from = clock.wallTime() - freshMs;
			others = ofRound(read, place)
				.filter(([node, record]) => node !== nodeId && record.at >= from)
				.map(([, record]) => record);
		}
		if (others.length >= count || clock.now() >= until) break;
		const leftMs = until - clock.now();
		await pause(clock, Math.min(pauseMs, LONGEST_PAUSE_MS, leftMs));
	}
	return {
		evidence: [...own, ...others.flatMap((one) => one.ranks)],
		isWhole: others.length >= count,
	};
}

const NO_EVIDENCE: ReadonlyMap<string, EvidenceRecord> = new Map();

/**
 * Whether workers of another node have begun to join a process group, by the evidence that it publishes. Its round began
 * with this one, so it does that soon, if at all.
 * @param until until when it is waited for, on the clock
 */
export async function othersJoin(
	evidence: Pick<Topic<EvidenceRecord>, "read">,
	place: PlaceInRound,
	until: number,
): Promise<boolean> {
	const { clock, nodeId } = place;
	while (clock.now() < until) {
		const leftMs = until - clock.now();
		const read = await within(clock, leftMs, evidence.read());
		const joins = ofRound(read ?? NO_EVIDENCE, place).some(
			([node, { ranks }]) =>
				node !== nodeId && ranks.some((one) => one.processGroup),
		);
		if (joins) return true;
		await pause(clock, LONGEST_PAUSE_MS);
	}
	return false;
}
