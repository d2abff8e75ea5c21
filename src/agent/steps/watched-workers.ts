import type { StepSource } from "../../model/step.js";
import type { WatchedWorker } from "../../progress/hang-rule.js";
import type { WorkerReader } from "../../progress/worker-reader.js";
import { isEnding, type WorkerSlot } from "../machine/worker.js";
import type { WorkerProcess } from "../workers/worker-process.js";

/** Times on the agent's clock. */
export interface WatchedTimes {
	/** When the round began. */
	readonly since: number;
	/** When this process last went on after it had been stopped. */
	readonly wokeAt: number;
	/** Until when a worker's steps from this source may have been lost. */
	readonly lostUntil: (source: StepSource | undefined) => number;
}

/**
 * The workers to judge; undefined if there is nothing to judge. Ended workers make no more steps; a paused or ending one
 * means that the round is being left.
 */
export function watchedWorkers(
	workers: readonly WorkerSlot[],
	processes: readonly WorkerProcess[],
	readers: {
		of(
			process: WorkerProcess,
		): Pick<WorkerReader, "movement" | "busyUntil" | "countedBy">;
	},
	{ since, wokeAt, lostUntil }: WatchedTimes,
): readonly WatchedWorker[] | undefined {
	const there = workers.filter(({ status }) => status !== "gone");
	if (there.length === 0 || !there.every(isWorking)) return undefined;
	const localRanks = new Set(there.map(({ localRank }) => localRank));
	return processes
		.filter(({ localRank }) => localRanks.has(localRank))
		.map((process) => {
			const { localRank } = process;
			const { movement, busyUntil: announced, countedBy } = readers.of(process);
			// What the launcher slept through, or a full disk has lost, says nothing of its workers.
			const busyUntil = Math.max(announced, wokeAt, lostUntil(countedBy));
			return { localRank, since, movement, busyUntil };
		});
}

function isWorking(worker: WorkerSlot): boolean {
	return (
		worker.status === "running" && worker.pid !== null && !isEnding(worker)
	);
}
