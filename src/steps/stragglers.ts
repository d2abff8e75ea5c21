/*
 * Which rank all others wait for, as one pure function.
 *
 *   ranks of one kind of pace                             | straggler
 *   ------------------------------------------------------|-------------
 *   fewer than three                                      | none
 *   their rates differ: they do not wait for each other   | none
 *   the slowest is not far from the middle: robust z ≤ 3  | none
 *   it loses less than 5 % of a step, or less than 2 ms   | none
 *   it loses a whole step or more: nobody waits for it    | none
 *   its nearly fastest steps are no slower than the       | none, unless
 *     nearly slowest of the middle rank                   |  it was named
 *   else                                                  | the slowest
 *
 * The line before the last is what makes it sustained: 18 of its last 20 steps were
 * slower than 18 of 20 of a usual rank. By chance alone this does not happen,
 * however much the steps vary, and it needs no second look.
 */

import type { Clock } from "../base/clock.js";
import type { Logger } from "../base/logger.js";
import { formatDuration } from "../base/units.js";
import {
	ofRound,
	type Pace,
	type ProgressRecord,
	type Straggler,
	type Topic,
} from "../model/index.js";
import type { NodeState, RunningNode } from "./node.js";
import { medianOf } from "./pace.js";

/** A rank that makes steps. */
export interface PacedRank {
	readonly rank: number;
	readonly node: string;
	readonly step: number;
	/** Steps a second; null if it is not known. */
	readonly rate: number | null;
	readonly pace: Pace | undefined;
}

/** A straggler, and the last step of which the loss is counted. */
export interface Followed extends Straggler {
	readonly step: number;
}

const LEAST_RANKS = 3;
const LEAST_Z = 3;
/** A normal deviation is so many times the median absolute one. */
const NORMAL = 1 / 0.6745;
const LEAST_PART = 0.05;
/** Who waits for each other is equally fast, but for the moments at which the rates were measured. */
const SAME_RATE = 0.1;
/** The clocks of reports count milliseconds. */
const LEAST_SECONDS = 0.002;

type Measured = PacedRank & { readonly pace: Pace };

/**
 * The straggler now, and what it has cost since it was first named.
 * @param before that of the last look
 * @param wallTime milliseconds since 1970
 */
export function followStraggler(
	before: Followed | undefined,
	ranks: readonly PacedRank[],
	wallTime: number,
): Followed | undefined {
	const found = findStraggler(ranks, before?.rank);
	if (found === undefined) return undefined;
	const { rank, node, step, lostSecondsPerStep } = found;
	const isSame = before?.rank === rank && before.node === node;
	const { lostSeconds, since } = isSame
		? before
		: { lostSeconds: 0, since: wallTime };
	const steps = isSame ? Math.max(0, step - before.step) : 0;
	return {
		rank,
		node,
		step,
		lostSecondsPerStep,
		since,
		lostSeconds: lostSeconds + steps * lostSecondsPerStep,
	};
}

/** @param named the rank that was the straggler at the last look */
export function findStraggler(
	ranks: readonly PacedRank[],
	named?: number,
): (PacedRank & Pick<Straggler, "lostSecondsPerStep">) | undefined {
	const measured = comparable(ranks);
	const [slowest] = [...measured].sort(
		(left, right) => right.pace.usual - left.pace.usual,
	);
	if (slowest === undefined || measured.length < LEAST_RANKS) return undefined;
	const usual = measured.map(({ pace }) => pace.usual);
	const middle = medianOf(usual);
	const deviation = medianOf(usual.map((one) => Math.abs(one - middle)));
	const lost = slowest.pace.usual - middle;
	const isFar = lost > LEAST_Z * NORMAL * deviation;
	const stepSeconds = commonStep(measured);
	if (!isFar || stepSeconds === undefined) return undefined;
	const least = Math.max(LEAST_SECONDS, LEAST_PART * stepSeconds);
	if (lost < least || lost >= stepSeconds) return undefined;
	const most = medianOf(measured.map(({ pace }) => pace.most));
	const isSustained = slowest.pace.least > most;
	if (!isSustained && slowest.rank !== named) return undefined;
	return { ...slowest, lostSecondsPerStep: lost };
}

/** The ranks with the better kind of pace, if all have it. */
function comparable(ranks: readonly PacedRank[]): readonly Measured[] {
	const measured = ranks.filter(
		(one): one is Measured => one.pace !== undefined,
	);
	const own = measured.filter(({ pace }) => pace.by === "own-time");
	return own.length === ranks.length
		? own
		: measured.filter(({ pace }) => pace.by === "arrival");
}

/** What a step takes, in seconds; undefined if it is not known, or the ranks are not equally fast. */
function commonStep(ranks: readonly PacedRank[]): number | undefined {
	const rates = ranks.flatMap(({ rate }) => rate ?? []);
	const usual = medianOf(rates);
	const areSame = rates.every(
		(rate) => Math.abs(rate - usual) <= SAME_RATE * usual,
	);
	return areSame && usual > 0 ? 1 / usual : undefined;
}

type RoundName = Pick<NodeState, "instance" | "round">;

/** How often all nodes' steps are read, in milliseconds. */
const LOOK_EVERY_MS = 5_000;

export interface StragglerWatchOptions {
	readonly clock: Clock;
	readonly log: Pick<Logger, "info" | "warn">;
	readonly progress: Pick<Topic<ProgressRecord>, "read">;
}

/**
 * Looks for the rank that all others wait for. Only the round's first node does, so that the store is read once for all
 * nodes, and one log says it once.
 */
export class StragglerWatch {
	private round = "";
	private known: Followed | undefined;
	/** By stragglers of this round that are none any longer. */
	private lostSeconds = 0;
	private lookAt = 0;

	constructor(private readonly options: StragglerWatchOptions) {}

	/** The straggler of the last look; begins another look where one is due. */
	look(node: RunningNode): Straggler | undefined {
		const round = nameOf(node);
		if (round !== this.round) {
			this.round = round;
			this.known = undefined;
			this.lostSeconds = 0;
		}
		const now = this.options.clock.now();
		if (node.seat.groupRank === 0 && now >= this.lookAt) {
			this.lookAt = now + LOOK_EVERY_MS;
			void this.options.progress.read().then((records) => {
				// Where the store does not answer, the last look holds.
				if (records === undefined || this.round !== round) return;
				this.judge(ofRound(records, node).flatMap(pacedRanks));
			});
		}
		if (this.known === undefined) return undefined;
		const { step: _, ...straggler } = this.known;
		return straggler;
	}

	/** How long the steps of a round have waited for stragglers, in milliseconds, as far as this node looked. */
	lostMsIn(round: RoundName): number {
		if (nameOf(round) !== this.round) return 0;
		return (this.lostSeconds + (this.known?.lostSeconds ?? 0)) * 1_000;
	}

	private judge(ranks: readonly PacedRank[]): void {
		const { clock, log } = this.options;
		const before = this.known;
		const after = followStraggler(before, ranks, clock.wallTime());
		this.known = after;
		if (after?.rank === before?.rank && after?.node === before?.node) return;
		if (before) {
			this.lostSeconds += before.lostSeconds;
			log.info(
				`the steps no longer wait for rank ${before.rank} on ${before.node}; they have lost ${formatDuration(before.lostSeconds * 1_000)}`,
			);
		}
		if (after) {
			log.warn(
				`each step waits for rank ${after.rank} on ${after.node}, for ${formatDuration(after.lostSecondsPerStep * 1_000)}; no action is taken`,
			);
		}
	}
}

function pacedRanks([node, { firstRank = 0, workers }]: readonly [
	string,
	ProgressRecord,
]): readonly PacedRank[] {
	return workers
		.filter(({ ended }) => !ended)
		.map(({ localRank, step, rate, pace }) => ({
			rank: firstRank + localRank,
			node,
			step,
			rate,
			pace,
		}));
}

function nameOf({ instance, round }: RoundName): string {
	return `${instance} ${round}`;
}
