import type { WatchedWorker } from "../../progress/hang-rule.js";
import { isEnding, type WorkerSlot } from "../machine/worker-slot.js";
import type { WorkerProcess } from "../workers/worker-member.js";
import type { WorkerReaders } from "./worker-readers.js";

/**
 * The workers to judge; undefined if there is nothing to judge. Ended workers make no more steps; a paused or ending one
 * means that the round is being left.
 * @param since when the round began
 */
export function watchedWorkers(
	workers: readonly WorkerSlot[],
	processes: readonly WorkerProcess[],
	readers: WorkerReaders,
	since: number,
): readonly WatchedWorker[] | undefined {
	const there = workers.filter(({ status }) => status !== "gone");
	if (there.length === 0 || !there.every(isWorking)) return undefined;
	const localRanks = new Set(there.map(({ localRank }) => localRank));
	return processes
		.filter(({ localRank }) => localRanks.has(localRank))
		.map((process) => {
			const { steps, busyUntil } = readers.of(process);
			return { localRank: process.localRank, since, steps, busyUntil };
		});
}

function isWorking(worker: WorkerSlot): boolean {
	return (
		worker.status === "running" && worker.pid !== null && !isEnding(worker)
	);
}
