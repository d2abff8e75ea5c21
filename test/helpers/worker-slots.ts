import { freshSlot, type WorkerSlot } from "../../src/agent/machine/worker.js";

/** A worker of any status; it runs unless `change` says otherwise. */
export function workerSlot(
	localRank: number,
	change: Partial<WorkerSlot> = {},
): WorkerSlot {
	const pause = { event: 2, leaveBy: 1, killAt: 2, hintAt: null };
	return {
		...freshSlot(localRank),
		pid: 100 + localRank,
		pause: change.status === "pausing" ? pause : null,
		...change,
	};
}
