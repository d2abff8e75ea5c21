import type { WorldChangeEvent } from "../../channel/events.js";
import {
	ackByOf,
	isToldToPause,
	isUnawares,
	isUp,
	lingeringIn,
	type Pause,
	type WorkerSlot,
} from "../worker-slot.js";

/** How long after its PAUSE one may have died for the next one to be waited for, in milliseconds. */
const LATEST_AWAITED_MS = 5_000;
/** The next one is waited for twice as long, and for so many milliseconds more. */
const AWAITED_MORE_MS = 3_000;

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
	exited: { readonly localRank: number; readonly groupRemains: boolean },
	killAt: number | null,
): readonly WorkerSlot[] {
	return update(workers, exited.localRank, (worker) =>
		worker.status === "gone"
			? {}
			: {
					status: "exited",
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
		status: isToldToPause(worker) ? "running" : worker.status,
		killAt:
			worker.goneBy === null
				? Math.min(worker.killAt ?? killAt, killAt)
				: worker.killAt,
		pauses: [],
		waitsUntil: null,
		awaitedUntil: null,
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
	now: number,
): WorkerSlot {
	const event = worker.events + 1;
	const { round, ackBy } = pause;
	const waits = worker.waitsUntil !== null;
	const isAwaited = !waits && mayCostRound(worker);
	const isBounded = isAwaited && worker.manner === "died";
	// Who has heard of the round that is left now has left the one before, as far as anybody knows.
	const before = isUnawares(worker) ? lingeringIn(worker, now) : null;
	return {
		...worker,
		status: isAwaited ? "awaited" : "paused",
		events: event,
		change,
		pauses: [...worker.pauses, { event, ...pause }],
		lingering: waits ? null : (before ?? { round, since: now, until: ackBy }),
		awaitedUntil: isBounded
			? Math.min(ackBy, now + 2 * worker.lateMs + AWAITED_MORE_MS)
			: null,
		waitsUntil: null,
	};
}

/** Whether it may take its PAUSE as the one before it did; but of who died after a long time nobody waits for the next one. */
function mayCostRound({ manner, lateMs }: WorkerSlot): boolean {
	return manner === "died" ? lateMs <= LATEST_AWAITED_MS : manner !== null;
}

/** The PAUSE is over; that it was received is still expected. */
export function toWorking(worker: WorkerSlot): WorkerSlot {
	return { ...worker, status: "running", events: worker.events + 1 };
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

export function update(
	workers: readonly WorkerSlot[],
	localRank: number,
	change: (worker: WorkerSlot) => Partial<WorkerSlot>,
): readonly WorkerSlot[] {
	return workers.map((worker) =>
		worker.localRank === localRank ? { ...worker, ...change(worker) } : worker,
	);
}
