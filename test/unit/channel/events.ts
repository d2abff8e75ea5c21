import { type WorkerInfo, workerInfoOf } from "../../../src/channel/events.js";
import type { OutgoingEvent } from "../../../src/channel/worker-channel.js";

export const uid = process.getuid?.() ?? 0;

export function workerInfo(round: number): WorkerInfo {
	return workerInfoOf({
		localRank: 0,
		roleRank: 1,
		rank: 2,
		localWorldSize: 4,
		roleWorldSize: 6,
		worldSize: 8,
		groupRank: 3,
		groupWorldSize: 5,
		role: "trainer",
		masterAddr: "10.0.0.1",
		masterPort: 40123,
		round,
		restartCount: 7,
		runId: "train-1f3a9c02",
	});
}

export function work(round: number, reason = "formed"): OutgoingEvent {
	return {
		kind: "WORK",
		workerState: "HEALTHY",
		changeEvent: round === 1 ? null : "SCALE_UP",
		instance: 1795163940000,
		round,
		reason,
		workerInfo: workerInfo(round),
	};
}

export function pause(round: number): OutgoingEvent {
	return {
		kind: "PAUSE",
		workerState: "PAUSED",
		changeEvent: "SCALE_DOWN",
		instance: 1795163940000,
		round,
		reason: "node-b left: lease expired",
		workerInfo: workerInfo(round),
	};
}
