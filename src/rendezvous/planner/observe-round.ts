import { startOfRound, workingHolders } from "../records/places.js";
import type { RoundRecord } from "../records/records.js";
import type { RunView } from "../records/run-view.js";
import { EMPTY_MEMORY, type PlannerMemory, type RoundTimes } from "./plan.js";

/**
 * Records when all members of a round were first seen running, and when the last node was first seen ready for the next
 * one. The history shows these times; they decide nothing. They are the coordinator's, in milliseconds since 1970; a
 * coordinator that takes over a running round uses the nodes' own times.
 */
export function observeRound(
	view: RunView,
	memory: PlannerMemory,
	wallTime: number,
): PlannerMemory {
	const { synced, deprecated } = view.round;
	const known = memory.times?.round === synced ? memory.times : undefined;
	const times: RoundTimes =
		synced > deprecated
			? {
					round: synced,
					startedAt: known?.startedAt ?? startOf(view, known, wallTime),
					ready: 0,
					readyAt: null,
				}
			: { ...readiness(view, known, wallTime), round: synced };
	return { ...memory, times };
}

/**
 * Forgets the previous round. A coordinator that lifted a round uses its own clock, even if all members run before its
 * next look.
 */
export function rememberLift({
	synced,
}: Pick<RoundRecord, "synced">): PlannerMemory {
	const times = { round: synced, startedAt: null, ready: 0, readyAt: null };
	return { ...EMPTY_MEMORY, times };
}

function startOf(
	view: RunView,
	known: RoundTimes | undefined,
	wallTime: number,
): number | null {
	if (known !== undefined) {
		const isRunning = workingHolders(view).every(
			(holder) => holder?.record.state === "running",
		);
		return isRunning ? wallTime : null;
	}
	// The previous coordinator has vanished, and what it saw with it.
	return startOfRound(view);
}

function readiness(
	view: RunView,
	known: RoundTimes | undefined,
	wallTime: number,
): Omit<RoundTimes, "round"> {
	const claim = view.round.synced + 1;
	const ready = [...view.nodes.values()].filter(
		({ record }) => record.state === "ready" && record.claim === claim,
	).length;
	const hasGrown = ready > (known?.ready ?? 0);
	return {
		startedAt: known?.startedAt ?? null,
		ready,
		readyAt: hasGrown ? wallTime : (known?.readyAt ?? null),
	};
}
