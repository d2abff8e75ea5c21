import type { WorkerSlot } from "./worker-slot.js";

/** When one of these workers needs attention next; Infinity: none does. */
export function earliestOf(workers: readonly WorkerSlot[]): number {
	const times = workers.flatMap(attentionTimes);
	return times.reduce<number>(
		(earliest, at) => Math.min(earliest, at ?? earliest),
		Number.POSITIVE_INFINITY,
	);
}

function attentionTimes(worker: WorkerSlot): readonly (number | null)[] {
	switch (worker.status) {
		case "running":
			return [worker.killAt, worker.goneBy, worker.waitsUntil];
		case "pausing":
			return [worker.pause.leaveBy, worker.pause.hintAt];
		case "paused":
			return [];
		case "exited": {
			const { killAt, goneBy, unexplained } = worker;
			return [killAt, goneBy, unexplained?.until ?? null];
		}
		case "gone":
			return [worker.unexplained?.until ?? null];
		default:
			return worker satisfies never;
	}
}
