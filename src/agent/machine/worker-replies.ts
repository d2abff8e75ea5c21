import type { AgentInput } from "./inputs.js";
import type { Running } from "./state.js";
import type { PauseManner, WorkerSlot } from "./worker-slot.js";
import { isDue, update } from "./worker-slots.js";

/** How long a worker may wait for another round before its wait counts as a wish, in milliseconds. */
export const WISH_AFTER_MS = 2_000;

export type Reply = Extract<
	AgentInput,
	{ kind: "worker-attached" | "worker-acknowledged" }
>;

/** A worker has acknowledged an event. */
export function markHeard(
	workers: readonly WorkerSlot[],
	reply: Reply,
): readonly WorkerSlot[] {
	return update(workers, reply.localRank, (worker) => {
		if (reply.kind === "worker-attached") return { attached: true };
		const { hasPaused, pauses, heard, status, manner } = worker;
		const owed = pauses.filter(({ event }) => event > reply.event);
		const known = {
			heard: Math.max(heard, reply.event),
			hasPaused: hasPaused || owed.length < pauses.length,
		};
		// The acknowledgement does not tell whether it will end.
		if (status === "awaited" && manner === "ended") return known;
		const isAnswer = manner === "silent" && known.hasPaused;
		const after = { ...worker, ...known, pauses: owed };
		return isAnswer ? { ...toReleased(after), manner: null } : after;
	});
}

/** A worker that waits for work has left its round, and does not end at its PAUSE. */
export function markStays(
	workers: readonly WorkerSlot[],
	localRank: number,
): readonly WorkerSlot[] {
	return update(workers, localRank, (worker) => ({
		...toReleased(worker),
		lingering: null,
	}));
}

/** A worker that works in a later round than it was told to leave has left that round. */
export function markWorks(
	workers: readonly WorkerSlot[],
	{ localRank, round }: AgentInput & { kind: "worker-works" },
): readonly WorkerSlot[] {
	return update(workers, localRank, ({ lingering }) =>
		lingering !== null && lingering.round < round ? { lingering: null } : {},
	);
}

/** The node stops waiting for workers whose death was awaited long enough, although it may still come. */
export function releaseDue(
	workers: readonly WorkerSlot[],
	now: number,
): readonly WorkerSlot[] {
	return workers.map((worker) =>
		isDue(worker.awaitedUntil, now) ? toReleased(worker) : worker,
	);
}

/** How the next one in its place may react to a PAUSE: that it may end tells more. */
export function markManner(
	workers: readonly WorkerSlot[],
	localRank: number,
	manner: PauseManner,
	lateMs = 0,
): readonly WorkerSlot[] {
	return update(workers, localRank, ({ manner: known, lateMs: before }) => ({
		manner:
			known === "ended" || manner === "silent" ? (known ?? manner) : manner,
		lateMs: Math.max(before, lateMs),
	}));
}

/** It waits for a round after this one or, with null, no longer waits. */
export function markWait(
	{ workers, round: newest }: Running,
	{ localRank, round }: AgentInput & { kind: "worker-waits" },
	now: number,
): readonly WorkerSlot[] {
	// It ended its wait by itself and continues: it was no wish.
	if (round === null) {
		return update(workers, localRank, () => ({ waitsUntil: null }));
	}
	const known = markStays(workers, localRank);
	// It waits behind an earlier round: it has not seen yet that it may work.
	if (round < newest) return known;
	return update(known, localRank, ({ status, waitsUntil }) =>
		status === "running"
			? { waitsUntil: waitsUntil ?? now + WISH_AFTER_MS }
			: {},
	);
}

/** Nothing more is awaited: without it its node is ready for the next round. */
function toReleased(worker: WorkerSlot): WorkerSlot {
	if (worker.status !== "awaited") return worker;
	const owed = worker.pauses.filter(({ event }) => event > worker.heard);
	return { ...worker, status: "paused", pauses: owed, awaitedUntil: null };
}
