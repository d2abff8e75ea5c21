import type { WorldChangeEvent } from "../../channel/events.js";
import {
	hasHeard,
	isToldToPause,
	isUp,
	type Pause,
	type WorkerSlot,
} from "./worker-slot.js";

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
					pause: null,
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
		pause: null,
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
		pause: null,
		waitsUntil: null,
	};
}

/** It was sent SIGKILL. */
export function toKilled(worker: WorkerSlot, goneBy: number): WorkerSlot {
	return { ...worker, killAt: null, goneBy };
}

/** It was told to pause. A worker that waits already has left its round. */
export function toPausing(
	worker: WorkerSlot,
	change: WorldChangeEvent,
	told: Pick<Pause, "leaveBy" | "killAt">,
	now: number,
): WorkerSlot {
	const event = worker.events + 1;
	const hintAt = hintAtFor(worker, told.leaveBy, now);
	return {
		...worker,
		status: "pausing",
		events: event,
		change,
		pause: { ...told, event, hintAt },
		behindUntil: worker.waitsUntil === null ? told.leaveBy : null,
		waitsUntil: null,
	};
}

/** A worker that has never answered may not listen; the user learns that before the worker is ended for it. */
function hintAtFor(
	{ hasPaused, waitsUntil }: WorkerSlot,
	leaveBy: number,
	now: number,
): number | null {
	const hintAt = now + HINT_AFTER_MS;
	const listens = hasPaused || waitsUntil !== null;
	return !listens && hintAt < leaveBy ? hintAt : null;
}

/**
 * A pausing worker has left its round when it has acknowledged its PAUSE; where one in its place ended after that, when it
 * waits for work.
 */
export function toLeft(worker: WorkerSlot): WorkerSlot {
	const { pause, endedLate, behindUntil } = worker;
	if (pause === null || !hasHeard(worker)) return worker;
	const heard = { ...worker, hasPaused: true };
	return endedLate && behindUntil !== null
		? { ...heard, pause: { ...pause, hintAt: null } }
		: { ...heard, status: "paused", pause: null };
}

/** The PAUSE is over. */
export function toWorking(worker: WorkerSlot): WorkerSlot {
	return { ...worker, status: "running", events: worker.events + 1 };
}

/** The first worker that has not left its round in time. */
export function overdue(
	workers: readonly WorkerSlot[],
	now: number,
): WorkerSlot | undefined {
	return workers.find(({ pause }) => isDue(pause?.leaveBy ?? null, now));
}

/** Gives workers whose time to leave their round is over until then. */
export function withNewTime(
	workers: readonly WorkerSlot[],
	now: number,
	leaveBy: number,
): readonly WorkerSlot[] {
	return workers.map((worker) =>
		worker.pause !== null && isDue(worker.pause.leaveBy, now)
			? { ...worker, pause: { ...worker.pause, leaveBy } }
			: worker,
	);
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
