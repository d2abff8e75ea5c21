import type { WatchedWorker } from "../../progress/hang-rule.js";
import type { WorkerReader } from "../../progress/worker-reader.js";
import { isEnding, type WorkerSlot } from "../machine/worker-slot.js";
import type { WorkerProcess } from "../workers/worker-process.js";

/**
 * The workers to judge; undefined if there is nothing to judge. Ended workers make no more steps; a paused or ending one
 * means that the round is being left.
 * @param times when the round began, and when this process last went on after it had been stopped
 */
export function watchedWorkers(
	workers: readonly WorkerSlot[],
	processes: readonly WorkerProcess[],
	readers: {
		of(process: WorkerProcess): Pick<WorkerReader, "movement" | "busyUntil">;
	},
	{ since, wokeAt }: { readonly since: number; readonly wokeAt: number },
): readonly WatchedWorker[] | undefined {
	const there = workers.filter(({ status }) => status !== "gone");
	if (there.length === 0 || !there.every(isWorking)) return undefined;
	const localRanks = new Set(there.map(({ localRank }) => localRank));
	return processes
		.filter(({ localRank }) => localRanks.has(localRank))
		.map((process) => {
			const { localRank } = process;
			const { movement, busyUntil: announced } = readers.of(process);
			// What the launcher slept through says nothing of its workers.
			const busyUntil = Math.max(announced, wokeAt);
			return { localRank, since, movement, busyUntil };
		});
}

function isWorking(worker: WorkerSlot): boolean {
	return (
		worker.status === "running" && worker.pid !== null && !isEnding(worker)
	);
}
