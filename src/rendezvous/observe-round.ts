import { currentPlaces, holderOf } from "./order-members.js";
import { EMPTY_MEMORY, type PlannerMemory, type RoundTimes } from "./plan.js";
import type { NodeRecord, RoundRecord } from "./records.js";
import type { RunView } from "./run-view.js";

/**
 * Remembers when it was that all members of a round were seen to run, and when
 * the last node was seen to be ready for the next one: for the history only,
 * nothing is decided by it. Times are the coordinator's, in milliseconds since
 * 1970; where a coordinator finds a round in full swing, it is told by the
 * nodes' own clocks since when.
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

/** Nothing is left of the round before. Who has lifted a round goes by his own clock, also where all members run before he looks again. */
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
	const holders = currentPlaces(view)
		.filter(({ nodeId }) => !view.finished.has(nodeId))
		.map((place) => holderOf(view, place)?.record);
	const isRunning = (record: NodeRecord | undefined) =>
		record?.state === "running";
	if (known !== undefined) return holders.every(isRunning) ? wallTime : null;
	// Who coordinated before has vanished, and with it its record.
	const starts = holders
		.filter((record) => record !== undefined)
		.map((record) => startedSince(record, view));
	return starts.length > 0 && starts.every((start) => start !== null)
		? Math.max(...starts)
		: null;
}

/** Since when a node has run the round, or had when a worker of it failed; by its own clock. Null: not known. */
function startedSince(
	{ state, since, failure }: NodeRecord,
	{ round, story }: RunView,
): number | null {
	if (state === "running") return since;
	if (failure?.failure.round !== round.synced) return null;
	const { timestamp, uptimeMs } = failure.failure;
	// A worker may be older than the round.
	return Math.max(timestamp - uptimeMs, story?.liftedAt ?? 0);
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
