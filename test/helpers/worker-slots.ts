import {
	freshSlot,
	knownOf,
	type WorkerSlot,
} from "../../src/agent/machine/worker-slot.js";

/** A worker of any status; it runs unless `change` says otherwise. */
export function workerSlot(
	localRank: number,
	change: Partial<WorkerSlot> = {},
): WorkerSlot {
	const fresh = { ...freshSlot(localRank), pid: 100 + localRank };
	const known = knownOf(fresh);
	const ended = { killAt: null, goneBy: null, unexplained: null };
	const pause = { event: 2, leaveBy: 1, killAt: 2, hintAt: null };
	switch (change.status) {
		case "pausing":
			return { ...known, pause, ...change, status: "pausing" };
		case "paused":
			return { ...known, ...change, status: "paused" };
		case "exited":
			return { ...known, ...ended, ...change, status: "exited" };
		case "gone":
			return { ...known, unexplained: null, ...change, status: "gone" };
		default:
			return { ...fresh, ...change, status: "running" };
	}
}
