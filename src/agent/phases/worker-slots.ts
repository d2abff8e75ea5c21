import type { WorldChangeEvent } from "../../channel/events.js";
import type { AgentInput } from "../inputs.js";
import { ackByOf, isUp, type Pause, type WorkerSlot } from "../worker-slot.js";

/** How long a worker may wait for another round before its wait is taken for a wish, in milliseconds. */
const WISH_AFTER_MS = 2_000;

export type Reply = Extract<
	AgentInput,
	{ kind: "worker-greeted" | "worker-acknowledged" }
>;

type Exit = Extract<AgentInput, { kind: "worker-exited" }>;

export function markStarted(
	workers: readonly WorkerSlot[],
	{ localRank, pid }: { readonly localRank: number; readonly pid: number },
): readonly WorkerSlot[] {
	return update(workers, localRank, () => ({ pid }));
}

/**
 * The leader ended; what it left behind in its group is killed at `killAt`, unless
 * it is to end anyway. One that was given up stays so, whatever is heard of it.
 */
export function markExited(
	workers: readonly WorkerSlot[],
	exited: Pick<Exit, "localRank" | "exitCode" | "groupRemains">,
	killAt: number | null,
): readonly WorkerSlot[] {
	return update(workers, exited.localRank, (worker) =>
		worker.status === "gone"
			? {}
			: {
					status: "exited",
					endedInPause:
						worker.endedInPause ||
						(exited.exitCode === 0 && worker.pauses.length > 0),
					killAt: worker.killAt ?? (exited.groupRemains ? killAt : null),
				},
	);
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

/** It shall end by `killAt`, or when it was told before: nothing is expected of it any more. */
export function toEnd(worker: WorkerSlot, killAt: number): WorkerSlot {
	if (worker.status === "gone") return worker;
	return {
		...worker,
		status: worker.status === "paused" ? "running" : worker.status,
		killAt:
			worker.goneBy === null
				? Math.min(worker.killAt ?? killAt, killAt)
				: worker.killAt,
		pauses: [],
		waitsUntil: null,
	};
}

/** It has been sent SIGKILL. */
export function toKilled(worker: WorkerSlot, goneBy: number): WorkerSlot {
	return { ...worker, killAt: null, goneBy };
}

export function toPaused(
	worker: WorkerSlot,
	change: WorldChangeEvent,
	pause: Omit<Pause, "event">,
): WorkerSlot {
	const event = worker.events + 1;
	return {
		...worker,
		status: "paused",
		events: event,
		change,
		pauses: [...worker.pauses, { event, ...pause }],
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
	return update(workers, reply.localRank, ({ hasPaused, pauses, heard }) => {
		if (reply.kind === "worker-greeted") return { greeted: true };
		const owed = pauses.filter(({ event }) => event > reply.event);
		return {
			heard: Math.max(heard, reply.event),
			hasPaused: hasPaused || owed.length < pauses.length,
			pauses: owed,
		};
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

/** Its wait was no wish: it has given it up by itself, and goes on. */
export function markWaitOver(
	workers: readonly WorkerSlot[],
	localRank: number,
): readonly WorkerSlot[] {
	return update(workers, localRank, () => ({ waitsUntil: null }));
}

/** The first worker that has not acknowledged its PAUSE in time. */
export function overdue(
	workers: readonly WorkerSlot[],
	now: number,
): WorkerSlot | undefined {
	return workers.find((worker) => isUp(worker) && isDue(ackByOf(worker), now));
}

/** Those whose time to acknowledge a PAUSE is over have until then. */
export function withNewTime(
	workers: readonly WorkerSlot[],
	now: number,
	ackBy: number,
): readonly WorkerSlot[] {
	return workers.map((worker) => ({
		...worker,
		pauses: worker.pauses.map((pause) =>
			isDue(pause.ackBy, now) ? { ...pause, ackBy } : pause,
		),
	}));
}

/** The first worker that has waited long enough for another round. */
export function wishing(
	workers: readonly WorkerSlot[],
	now: number,
): WorkerSlot | undefined {
	return workers.find(
		(worker) => isUp(worker) && isDue(worker.waitsUntil, now),
	);
}

export function isDue(deadline: number | null, now: number): boolean {
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
