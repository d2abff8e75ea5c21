import type { WorldChangeEvent } from "../../src/channel/events.js";
import type { ProcessHistory } from "./process-history.js";

/** One round of a worker's life, with its place in that round's world. */
export interface Stint {
	readonly worker: WorkerHistory;
	/** When it was started, or its WORK stood in its channel. */
	readonly from: number;
	/** When the PAUSE that ended it stood in its channel; null: there was none. */
	pausedAt: number | null;
	readonly instance: number;
	readonly round: number;
	readonly rank: number;
	readonly groupRank: number;
	readonly roleRank: number;
	readonly worldSize: number;
	readonly roleWorldSize: number;
	readonly masterAddr: string;
	readonly masterPort: number;
	/** The picture of the run that it was begun on said that its round was to be left. */
	roundWasLeft: boolean;
}

/** What a worker has been told in its channel. */
export interface Told {
	readonly at: number;
	readonly kind: "WORK" | "PAUSE";
	readonly change: WorldChangeEvent | null;
	readonly instance: number;
	readonly round: number;
	/** When it said that it had received it. */
	acknowledgedAt: number | null;
}

/** One worker, from its spawn until nothing of its process group is left. */
export interface WorkerHistory {
	readonly pid: number;
	readonly process: ProcessHistory;
	readonly startedAt: number;
	endedAt: number | null;
	/** When its first process ended, of which others of the group may be left. */
	leaderEndedAt: number | null;
	readonly localRank: number;
	/** The rounds that it has worked in, in order; at least one. */
	readonly stints: Stint[];
	readonly told: Told[];
	/** When it said HELLO. */
	greetedAt: number | null;
	/** When it said that it waits for another round. */
	readonly waited: number[];
	/** When its agent could not tell it something. */
	untoldAt: number | null;
	/** When its agent first told it to end. */
	signalledAt: number | null;
	/** When it was sent SIGKILL and did not end, because the kernel held it. */
	stuckAt: number | null;
	/** It failed by itself, before anybody signalled it. */
	failed: boolean;
	/** Its leader ended with exit code 0. */
	succeeded: boolean;
}

/** The history of a worker that starts now. */
export function workerHistoryOf(
	who: Pick<WorkerHistory, "pid" | "process" | "localRank">,
	now: number,
): WorkerHistory {
	return {
		...who,
		startedAt: now,
		endedAt: null,
		leaderEndedAt: null,
		stints: [],
		told: [],
		greetedAt: null,
		waited: [],
		untoldAt: null,
		signalledAt: null,
		stuckAt: null,
		failed: false,
		succeeded: false,
	};
}

export function stintsOf(workers: readonly WorkerHistory[]): readonly Stint[] {
	return workers.flatMap(({ stints }) => stints);
}

/** The rounds that it has worked in, in words. */
export function roundsOf({ stints }: WorkerHistory): string {
	return stints.map(({ round }) => round).join(" ");
}

/** Until when it worked, or anything of its process group did; null: it still does. */
export function workedUntil({ pausedAt, worker }: Stint): number | null {
	return pausedAt ?? worker.endedAt;
}

/** Whether it works at this moment, as far as its agent has a say in it. */
export function worksAt(stint: Stint, at: number): boolean {
	return stint.from <= at && (workedUntil(stint) ?? at + 1) > at;
}

/** The PAUSEs that it had not acknowledged after this time. */
export function lateFor(
	{ told, leaderEndedAt }: WorkerHistory,
	timeoutMs: number,
	end: number,
): readonly Told[] {
	const until = leaderEndedAt ?? end;
	return told.filter(
		({ kind, at, acknowledgedAt }) =>
			kind === "PAUSE" && (acknowledgedAt ?? until) >= at + timeoutMs,
	);
}
