import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import { formatDuration } from "../../base/units.js";
import type { Straggler } from "../../model/step.js";
import {
	type Followed,
	followStraggler,
	type PacedRank,
} from "../../progress/stragglers.js";
import type { RunKeys } from "../../rendezvous/records/keys.js";
import type { Store } from "../../rendezvous/store/store.js";
import type { Running } from "../machine/state.js";
import { readProgress } from "./read-progress.js";

/** How often all nodes' steps are read, in milliseconds. */
const LOOK_EVERY_MS = 5_000;

export interface StragglerWatchOptions {
	readonly clock: Clock;
	readonly log: Pick<Logger, "info" | "warn">;
	readonly store: Pick<Store, "snapshot">;
	readonly keys: RunKeys;
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
	look(state: Running): Straggler | undefined {
		const round = nameOf(state);
		if (round !== this.round) {
			this.round = round;
			this.known = undefined;
			this.lostSeconds = 0;
		}
		const now = this.options.clock.now();
		if (state.seat.groupRank === 0 && now >= this.lookAt) {
			this.lookAt = now + LOOK_EVERY_MS;
			void this.readRanks(state).then((ranks) => {
				if (ranks && this.round === round) this.judge(ranks);
			});
		}
		if (this.known === undefined) return undefined;
		const { step: _, ...straggler } = this.known;
		return straggler;
	}

	/** How long the steps of a round have waited for stragglers, in milliseconds, as far as this node looked. */
	lostMsIn(round: Pick<Running, "instance" | "round">): number {
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

	/** Undefined if the store does not answer: then the last look holds. */
	private async readRanks({
		instance,
		round,
	}: Running): Promise<readonly PacedRank[] | undefined> {
		const { store, keys } = this.options;
		const records = await readProgress({ store, keys, instance, round });
		return records?.flatMap(({ nodeId: node, firstRank = 0, workers }) =>
			workers.map(({ localRank, step, rate, pace }) => ({
				rank: firstRank + localRank,
				...{ node, step, rate, pace },
			})),
		);
	}
}

function nameOf({
	instance,
	round,
}: Pick<Running, "instance" | "round">): string {
	return `${instance} ${round}`;
}
