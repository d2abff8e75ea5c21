import type { AgentInput } from "../inputs.js";
import type { Running } from "../state.js";
import type { PauseManner, WorkerSlot } from "../worker-slot.js";
import { isDue, update } from "./worker-slots.js";

/** How long a worker may wait for another round before its wait is taken for a wish, in milliseconds. */
const WISH_AFTER_MS = 2_000;

export type Reply = Extract<
	AgentInput,
	{ kind: "worker-greeted" | "worker-acknowledged" }
>;

/** What a worker says on its channel of having received. */
export function markHeard(
	workers: readonly WorkerSlot[],
	reply: Reply,
): readonly WorkerSlot[] {
	return update(workers, reply.localRank, (worker) => {
		if (reply.kind === "worker-greeted") return { greeted: true };
		const { hasPaused, pauses, heard, status, manner } = worker;
		const owed = pauses.filter(({ event }) => event > reply.event);
		const known = {
			heard: Math.max(heard, reply.event),
			hasPaused: hasPaused || owed.length < pauses.length,
		};
		// That it has heard says nothing of whether it will end.
		if (status === "awaited" && manner === "ended") return known;
		const isAnswer = manner === "silent" && known.hasPaused;
		const after = { ...worker, ...known, pauses: owed };
		return isAnswer ? { ...toReleased(after), manner: null } : after;
	});
}

/** One that waits for work has left its round, and does not end at its PAUSE. */
export function markStays(
	workers: readonly WorkerSlot[],
	localRank: number,
): readonly WorkerSlot[] {
	return update(workers, localRank, (worker) => ({
		...toReleased(worker),
		lingering: null,
	}));
}

/** One that works in a later round than it was told to leave has left that. */
export function markWorks(
	workers: readonly WorkerSlot[],
	{ localRank, round }: AgentInput & { kind: "worker-works" },
): readonly WorkerSlot[] {
	return update(workers, localRank, ({ lingering }) =>
		lingering !== null && lingering.round < round ? { lingering: null } : {},
	);
}

/** Those whose death was awaited for long enough, and may come still, are not waited for any more. */
export function releaseDue(
	workers: readonly WorkerSlot[],
	now: number,
): readonly WorkerSlot[] {
	return workers.map((worker) =>
		isDue(worker.awaitedUntil, now) ? toReleased(worker) : worker,
	);
}

/** How the next one in its place may take a PAUSE: that it may end says more. */
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

/** It waits for a round after this one, or, where that is null, waits no longer. */
export function markWait(
	{ workers, round: newest }: Running,
	{ localRank, round }: AgentInput & { kind: "worker-waits" },
	now: number,
): readonly WorkerSlot[] {
	// It has given its wait up by itself, and goes on: it was no wish.
	if (round === null) {
		return update(workers, localRank, () => ({ waitsUntil: null }));
	}
	const known = markStays(workers, localRank);
	// Of one that waits behind an earlier round: it has not seen yet that it may work.
	if (round < newest) return known;
	return update(known, localRank, ({ status, waitsUntil }) =>
		status === "running"
			? { waitsUntil: waitsUntil ?? now + WISH_AFTER_MS }
			: {},
	);
}

/** Nothing more is waited for: its node is ready for the next round without that. */
function toReleased(worker: WorkerSlot): WorkerSlot {
	if (worker.status !== "awaited") return worker;
	const owed = worker.pauses.filter(({ event }) => event > worker.heard);
	return { ...worker, status: "paused", pauses: owed, awaitedUntil: null };
}
