import type { WorldChangeEvent } from "../../channel/events.js";
import type { AgentInput } from "../inputs.js";
import type { WorkerSlot } from "../worker-slot.js";

/** How long a worker may wait for another round before its wait is taken for a wish, in milliseconds. */
const WISH_AFTER_MS = 2_000;

export type Reply = Extract<
	AgentInput,
	{ kind: "worker-greeted" | "worker-acknowledged" }
>;

export function markStarted(
	workers: readonly WorkerSlot[],
	{ localRank, pid }: { readonly localRank: number; readonly pid: number },
): readonly WorkerSlot[] {
	return update(workers, localRank, () => ({ pid }));
}

/** The leader ended; what it left behind in its group is killed at `killAt`, or with all the others (null). */
export function markExited(
	workers: readonly WorkerSlot[],
	exited: { readonly localRank: number; readonly groupRemains: boolean },
	killAt: number | null,
): readonly WorkerSlot[] {
	return update(workers, exited.localRank, () => ({
		status: "exited",
		killAt: exited.groupRemains ? killAt : null,
		pause: null,
		waitsUntil: null,
	}));
}

export function markGone(
	workers: readonly WorkerSlot[],
	localRank: number,
): readonly WorkerSlot[] {
	return update(workers, localRank, () => ({
		status: "gone",
		killAt: null,
		goneBy: null,
	}));
}

/** It shall end: nothing is expected of it any more. */
export function toEnd(worker: WorkerSlot): WorkerSlot {
	const status = worker.status === "paused" ? "running" : worker.status;
	return {
		...worker,
		status,
		killAt: null,
		goneBy: null,
		pause: null,
		waitsUntil: null,
	};
}

export function toPaused(
	worker: WorkerSlot,
	change: WorldChangeEvent,
	ackBy: number,
): WorkerSlot {
	const event = worker.events + 1;
	return {
		...worker,
		status: "paused",
		events: event,
		pause: { event, change, ackBy },
		waitsUntil: null,
	};
}

/** The PAUSE is over; that it was received is still expected. */
export function toWorking(worker: WorkerSlot): WorkerSlot {
	return { ...worker, status: "running", events: worker.events + 1 };
}

/** What a worker says on its channel of having received. */
export function markHeard(
	workers: readonly WorkerSlot[],
	reply: Reply,
): readonly WorkerSlot[] {
	return update(workers, reply.localRank, ({ pause }) => {
		if (reply.kind === "worker-greeted") return { greeted: true };
		return pause === null || reply.event < pause.event
			? {}
			: { hasPaused: true, pause: { ...pause, ackBy: null } };
	});
}

/** A worker waits for another round, while this one runs. */
export function markWaiting(
	workers: readonly WorkerSlot[],
	localRank: number,
	now: number,
): readonly WorkerSlot[] {
	return update(workers, localRank, ({ status, waitsUntil }) =>
		status === "running"
			? { waitsUntil: waitsUntil ?? now + WISH_AFTER_MS }
			: {},
	);
}

/** The first worker that has not acknowledged its PAUSE in time. */
export function overdue(
	workers: readonly WorkerSlot[],
	now: number,
): WorkerSlot | undefined {
	return workers.find(({ pause }) => isDue(pause?.ackBy ?? null, now));
}

/** The first worker that has waited long enough for another round. */
export function wishing(
	workers: readonly WorkerSlot[],
	now: number,
): WorkerSlot | undefined {
	return workers.find(({ waitsUntil }) => isDue(waitsUntil, now));
}

/** The workers whose time is over, and all of them with the time at which those are given up instead. */
export function killDue(
	workers: readonly WorkerSlot[],
	now: number,
	goneBy: number,
): { workers: readonly WorkerSlot[]; localRanks: readonly number[] } {
	const due = workers.filter(({ killAt }) => isDue(killAt, now));
	return {
		workers: workers.map((worker) =>
			due.includes(worker) ? { ...worker, killAt: null, goneBy } : worker,
		),
		localRanks: due.map(({ localRank }) => localRank),
	};
}

function isDue(deadline: number | null, now: number): boolean {
	return deadline !== null && now >= deadline;
}

function update(
	workers: readonly WorkerSlot[],
	localRank: number,
	change: (worker: WorkerSlot) => Partial<WorkerSlot>,
): readonly WorkerSlot[] {
	return workers.map((worker) =>
		worker.localRank === localRank ? { ...worker, ...change(worker) } : worker,
	);
}
