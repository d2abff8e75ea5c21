import type { AgentInput } from "./inputs.js";
import type { Running } from "./state.js";
import type { WorkerSlot } from "./worker-slot.js";
import { toLeft, update } from "./worker-slots.js";

/** How long a worker may wait for another round before its wait counts as a request, in milliseconds. */
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
	return update(workers, reply.localRank, (worker) =>
		reply.kind === "worker-attached"
			? { ...worker, attached: true }
			: toLeft({ ...worker, heard: Math.max(worker.heard, reply.event) }),
	);
}

/** A worker that waits for work has left the round that it was told to leave. */
export function markWaits(
	workers: readonly WorkerSlot[],
	localRank: number,
): readonly WorkerSlot[] {
	return update(workers, localRank, (worker) =>
		toLeft({ ...worker, behindUntil: null }),
	);
}

/** A worker that works in the newest round has left all earlier ones. */
export function markWorks(
	{ workers, round: newest }: Running,
	{ localRank, round }: AgentInput & { kind: "worker-works" },
): readonly WorkerSlot[] {
	return round === newest
		? update(workers, localRank, (one) => ({ ...one, behindUntil: null }))
		: workers;
}

/** It waits for a round after this one or, with null, no longer waits. */
export function markWait(
	{ workers, round: newest }: Running,
	{ localRank, round }: AgentInput & { kind: "worker-waits" },
	now: number,
): readonly WorkerSlot[] {
	// It ended its wait by itself and continues: it asked for none.
	if (round === null) {
		return update(workers, localRank, (worker) => waiting(worker, null));
	}
	const known = markWaits(workers, localRank);
	// It waits behind an earlier round: it has not seen yet that it may work.
	if (round < newest) return known;
	return update(known, localRank, (worker) => {
		const since = worker.status === "running" ? worker.waitsUntil : null;
		return waiting(worker, since ?? now + WISH_AFTER_MS);
	});
}

/** Only a worker that works can wait for another round. */
export function waiting(
	worker: WorkerSlot,
	waitsUntil: number | null,
): WorkerSlot {
	return worker.status === "running" ? { ...worker, waitsUntil } : worker;
}
