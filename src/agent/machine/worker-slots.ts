import type { WorldChangeEvent } from "../../channel/events.js";
import {
	deadlinesOf,
	type GoneWorker,
	hasHeard,
	isPausing,
	knownOf,
	type Pause,
	type PausedWorker,
	type PausingWorker,
	type RunningWorker,
	unexplainedOf,
	type WorkerSlot,
} from "./worker-slot.js";

/** How long a first PAUSE may be unanswered before the user is warned, in milliseconds: longer than most steps. */
export const HINT_AFTER_MS = 5_000;

export function markStarted(
	workers: readonly WorkerSlot[],
	{ localRank, pid }: { readonly localRank: number; readonly pid: number },
): readonly WorkerSlot[] {
	return update(workers, localRank, (worker) => ({ ...worker, pid }));
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
	return update(workers, exited.localRank, (worker): WorkerSlot => {
		if (worker.status === "gone") return worker;
		const { killAt: mustEndBy, goneBy } = deadlinesOf(worker);
		return {
			...knownOf(worker),
			status: "exited",
			killAt: mustEndBy ?? (exited.groupRemains ? killAt : null),
			goneBy,
			unexplained: unexplainedOf(worker),
		};
	});
}

export function markGone(
	workers: readonly WorkerSlot[],
	localRank: number,
): readonly WorkerSlot[] {
	return update(
		workers,
		localRank,
		(worker): GoneWorker => ({
			...knownOf(worker),
			status: "gone",
			unexplained: unexplainedOf(worker),
		}),
	);
}

/** It must end by `killAt`, or by an earlier deadline: nothing else is expected of it. */
export function toEnd(worker: WorkerSlot, killAt: number): WorkerSlot {
	switch (worker.status) {
		case "gone":
			return { ...worker, unexplained: null };
		case "exited":
			return { ...worker, ...sooner(worker, killAt), unexplained: null };
		default:
			return { ...withoutRound(worker), ...sooner(worker, killAt) };
	}
}

/** It was sent SIGKILL. */
export function toKilled(worker: WorkerSlot, goneBy: number): WorkerSlot {
	if (worker.status === "gone") return worker;
	const ending = worker.status === "exited" ? worker : withoutRound(worker);
	return { ...ending, killAt: null, goneBy };
}

/** It neither pauses nor waits any more. */
function withoutRound(
	worker: RunningWorker | PausingWorker | PausedWorker,
): RunningWorker {
	return {
		...knownOf(worker),
		...deadlinesOf(worker),
		status: "running",
		waitsUntil: null,
	};
}

function sooner(worker: WorkerSlot, latest: number) {
	const { killAt, goneBy } = deadlinesOf(worker);
	const isKilled = goneBy !== null;
	return { killAt: isKilled ? killAt : Math.min(killAt ?? latest, latest) };
}

/** It was told to pause. A worker that waits already has left its round. */
export function toPausing(
	worker: RunningWorker,
	change: WorldChangeEvent,
	told: Pick<Pause, "leaveBy" | "killAt">,
	now: number,
): PausingWorker {
	const event = worker.events + 1;
	const hintAt = hintAtFor(worker, told.leaveBy, now);
	return {
		...knownOf(worker),
		status: "pausing",
		events: event,
		change,
		pause: { ...told, event, hintAt },
		behindUntil: worker.waitsUntil === null ? told.leaveBy : null,
	};
}

/** A worker that has never answered may not listen; the user learns that before the worker is ended for it. */
function hintAtFor(
	{ hasPaused, waitsUntil }: RunningWorker,
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
	if (!isPausing(worker) || !hasHeard(worker)) return worker;
	const { pause, endedLate, behindUntil } = worker;
	return endedLate && behindUntil !== null
		? { ...worker, hasPaused: true, pause: { ...pause, hintAt: null } }
		: { ...knownOf(worker), hasPaused: true, status: "paused" };
}

/** The PAUSE is over. */
export function toWorking(worker: PausedWorker): RunningWorker {
	return { ...withoutRound(worker), events: worker.events + 1 };
}

/** The first worker that has not left its round in time. */
export function overdue(
	workers: readonly WorkerSlot[],
	now: number,
): PausingWorker | undefined {
	return workers.filter(isPausing).find(({ pause }) => now >= pause.leaveBy);
}

/** Gives workers whose time to leave their round is over until then. */
export function withNewTime(
	workers: readonly WorkerSlot[],
	now: number,
	leaveBy: number,
): readonly WorkerSlot[] {
	return workers.map((worker) =>
		isPausing(worker) && now >= worker.pause.leaveBy
			? { ...worker, pause: { ...worker.pause, leaveBy } }
			: worker,
	);
}

/** Its machine goes: it saves for as long as it may, and its answer to PAUSE is not awaited. */
export function withoutLimit(worker: WorkerSlot): WorkerSlot {
	const pause = { leaveBy: Number.POSITIVE_INFINITY, hintAt: null };
	return isPausing(worker)
		? { ...worker, pause: { ...worker.pause, ...pause } }
		: worker;
}

/** Its machine stays after all. */
export function withLimit(worker: WorkerSlot, leaveBy: number): WorkerSlot {
	return isPausing(worker) && worker.pause.leaveBy === Number.POSITIVE_INFINITY
		? { ...worker, pause: { ...worker.pause, leaveBy } }
		: worker;
}

/** The first worker that has waited long enough for another round. */
export function roundRequested(
	workers: readonly WorkerSlot[],
	now: number,
): RunningWorker | undefined {
	return workers
		.filter((worker) => worker.status === "running")
		.find(({ waitsUntil }) => isDue(waitsUntil, now));
}

export function isDue(deadline: number | null, now: number): boolean {
	return deadline !== null && now >= deadline;
}

export function update(
	workers: readonly WorkerSlot[],
	localRank: number,
	change: (worker: WorkerSlot) => WorkerSlot,
): readonly WorkerSlot[] {
	return workers.map((worker) =>
		worker.localRank === localRank ? change(worker) : worker,
	);
}
