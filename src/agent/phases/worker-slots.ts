import type { WorkerSlot } from "../state.js";

export function markStarted(
	workers: readonly WorkerSlot[],
	{ localRank, pid }: { readonly localRank: number; readonly pid: number },
): readonly WorkerSlot[] {
	return update(workers, localRank, { pid });
}

/** The leader ended; what it left behind in its group is killed at `killAt`, or with all the others (null). */
export function markExited(
	workers: readonly WorkerSlot[],
	exited: { readonly localRank: number; readonly groupRemains: boolean },
	killAt: number | null,
): readonly WorkerSlot[] {
	return update(workers, exited.localRank, {
		status: "exited",
		killAt: exited.groupRemains ? killAt : null,
	});
}

export function markGone(
	workers: readonly WorkerSlot[],
	localRank: number,
): readonly WorkerSlot[] {
	return workers.map((worker) =>
		worker.localRank === localRank ? gone(worker) : worker,
	);
}

function gone({ localRank, pid }: WorkerSlot): WorkerSlot {
	return { localRank, pid, status: "gone", killAt: null };
}

/** The workers whose time is over, and all of them with the time at which those are given up instead. */
export function killDue(
	workers: readonly WorkerSlot[],
	now: number,
	goneBy: number,
): { workers: readonly WorkerSlot[]; localRanks: readonly number[] } {
	const isDue = ({ killAt }: WorkerSlot) => killAt !== null && now >= killAt;
	return {
		workers: workers.map((worker) =>
			isDue(worker) ? { ...worker, killAt: null, goneBy } : worker,
		),
		localRanks: workers.filter(isDue).map(({ localRank }) => localRank),
	};
}

function update(
	workers: readonly WorkerSlot[],
	localRank: number,
	change: Partial<WorkerSlot>,
): readonly WorkerSlot[] {
	return workers.map((worker) =>
		worker.localRank === localRank ? { ...worker, ...change } : worker,
	);
}
