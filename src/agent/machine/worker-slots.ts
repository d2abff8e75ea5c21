import type { WorldChangeEvent } from "../../channel/events.js";
import {
	ackByOf,
	hasUnackedEvent,
	isToldToPause,
	isUp,
	lingeringIn,
	type Pause,
	type WorkerSlot,
} from "./worker-slot.js";

/** The longest time after its PAUSE, in milliseconds, after which a death still makes the node wait for the next worker. */
const LATEST_AWAITED_MS = 5_000;
/** The node waits twice as long for the next one, and this many milliseconds more. */
const AWAITED_MORE_MS = 3_000;
/** How long a first PAUSE may be unanswered before the user is warned, in milliseconds: longer than most steps. */
export const HINT_AFTER_MS = 5_000;

export function markStarted(
	workers: readonly WorkerSlot[],
	{ localRank, pid }: { readonly localRank: number; readonly pid: number },
): readonly WorkerSlot[] {
	return update(workers, localRank, () => ({ pid }));
}

/**
 * The leader ended; the rest of its group is killed at `killAt`, unless it must end anyway. A worker that was given up
 * stays so, whatever is heard of it.
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

/** It must end by `killAt`, or by an earlier deadline: nothing else is expected of it. */
export function toEnd(worker: WorkerSlot, killAt: number): WorkerSlot {
	if (worker.status === "gone") return { ...worker, unexplained: null };
	return {
		...worker,
		unexplained: null,
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

/** It was sent SIGKILL. */
export function toKilled(worker: WorkerSlot, goneBy: number): WorkerSlot {
	return { ...worker, killAt: null, goneBy };
}

export function toPaused(
	worker: WorkerSlot,
	change: WorldChangeEvent,
	told: Omit<Pause, "event" | "hintAt">,
	now: number,
): WorkerSlot {
	const event = worker.events + 1;
	const { round, ackBy } = told;
	const pause = { event, ...told, hintAt: hintAtFor(worker, ackBy, now) };
	const waits = worker.waitsUntil !== null;
	const isAwaited = !waits && mayCostRound(worker);
	const isBounded = isAwaited && worker.manner === "died";
	// A worker that has heard of the round being left has left the one before, as far as anybody knows.
	const before = hasUnackedEvent(worker) ? lingeringIn(worker, now) : null;
	return {
		...worker,
		status: isAwaited ? "awaited" : "paused",
		events: event,
		change,
		pauses: [...worker.pauses, pause],
		lingering: waits ? null : (before ?? { round, since: now, until: ackBy }),
		awaitedUntil: isBounded
			? Math.min(ackBy, now + 2 * worker.lateMs + AWAITED_MORE_MS)
			: null,
		waitsUntil: null,
	};
}

/** A worker that has never answered may not listen; the user learns that before the worker is ended for it. */
function hintAtFor(
	{ hasPaused, pauses, manner, waitsUntil }: WorkerSlot,
	ackBy: number,
	now: number,
): number | null {
	const isFirst = !hasPaused && pauses.length === 0 && manner === null;
	const listens = waitsUntil !== null;
	const hintAt = now + HINT_AFTER_MS;
	return isFirst && !listens && hintAt < ackBy ? hintAt : null;
}

/** Whether it may react to its PAUSE as the previous one did. After a late death the node does not wait for the next one. */
function mayCostRound({ manner, lateMs }: WorkerSlot): boolean {
	return manner === "died" ? lateMs <= LATEST_AWAITED_MS : manner !== null;
}

/** The PAUSE is over; its acknowledgement is still expected. */
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

/** Gives workers whose time to acknowledge a PAUSE is over until then. */
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
export function roundRequested(
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
