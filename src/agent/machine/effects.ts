import type { AgentEffect } from "./inputs.js";
import type { Facts } from "./state.js";
import { isEnding, localRanks, type WorkerSlot } from "./worker.js";

interface Change {
	readonly before: WorkerSlot;
	readonly after: WorkerSlot;
}

/** What must be done for the facts that have changed: workers are started, notified, or get signals. */
export function difference(
	before: Facts,
	after: Facts,
	why: string,
): readonly AgentEffect[] {
	if (before === after) return [];
	const isRunning = after.phase === "RUNNING";
	if (
		isRunning &&
		(before.phase !== "RUNNING" || before.round !== after.round)
	) {
		return start(after);
	}
	const changes = after.workers.flatMap((worker, at) => {
		const known = before.workers[at];
		return known === undefined ? [] : [{ before: known, after: worker }];
	});
	return [
		...pauses(changes, why),
		...notice(before, after, why),
		...terminate(before, after, changes),
		...kill(changes),
	];
}

/** A round begins. No signal for a notice that workers start with: it would end a process that has just been started. */
function start(after: Facts): readonly AgentEffect[] {
	const { view, seat, workers } = after;
	if (view === null || seat === null) return [];
	const running = workers.filter(({ status }) => status === "running");
	const ended = workers.filter(({ status }) => status !== "running");
	// A kept one has been sent a PAUSE, or that the next round began.
	const kept = running.filter(({ events }) => events > 1);
	const fresh = running.filter(({ events }) => events === 1);
	const reasons = kept.map(
		({ localRank, change }) => [localRank, change ?? "SCALE_DOWN"] as const,
	);
	return [
		{
			kind: "start-workers",
			round: view.round,
			seat,
			kept: new Map(reasons),
			ended: localRanks(ended),
		},
		...noticeTo(after, fresh, false),
	];
}

/** Whether it is sent an event. */
function sent({ before, after }: Change): boolean {
	return after.events > before.events;
}

function pauses(
	changes: readonly Change[],
	reason: string,
): readonly AgentEffect[] {
	const told = changes.filter(sent).map(({ after }) => after);
	const change = told[0]?.change;
	return change
		? [{ kind: "pause", localRanks: localRanks(told), change, reason }]
		: [];
}

/** The workers learn of the notice of the earliest deadline, or that their machine stays. */
function notice(
	before: Facts,
	after: Facts,
	reason: string,
): readonly AgentEffect[] {
	const [was] = before.notices ?? [];
	const [is] = after.notices ?? [];
	if (was === is) return [];
	const isThere = ({ status }: WorkerSlot) =>
		status !== "exited" && status !== "gone";
	const there = after.workers.filter(isThere);
	if (is !== undefined) return noticeTo(after, there, was === undefined);
	const stays = { deadline: null, source: null, reason, isFirst: false };
	return there.length === 0
		? []
		: [{ kind: "tell-notice", localRanks: localRanks(there), ...stays }];
}

function noticeTo(
	{ notices }: Facts,
	workers: readonly WorkerSlot[],
	isFirst: boolean,
): readonly AgentEffect[] {
	if (notices === undefined || workers.length === 0) return [];
	const { deadline = null, source, reason } = notices[0].notice;
	const said = { deadline, source, reason, isFirst };
	return [{ kind: "tell-notice", localRanks: localRanks(workers), ...said }];
}

/** SIGTERM, or another signal first, for the workers that must end since this step. */
function terminate(
	before: Facts,
	after: Facts,
	changes: readonly Change[],
): readonly AgentEffect[] {
	const { secondSignal: second } = before;
	const isSecond = second !== undefined && after.secondSignal === undefined;
	const first =
		after.secondSignal === second ? undefined : after.secondSignal?.first;
	const hasTime = (worker: WorkerSlot) => worker.killAt !== null;
	const isNew = (change: Change) =>
		hasTime(change.after) && !isEnding(change.before);
	const isTurn = ({ after: worker }: Change) =>
		isSecond && hasTime(worker) && second.localRanks.includes(worker.localRank);
	const ranks = changes
		.filter((one) => isNew(one) || isTurn(one))
		.map((one) => one.after.localRank);
	if (ranks.length === 0) return [];
	return first === undefined
		? [{ kind: "terminate", localRanks: ranks }]
		: [{ kind: "terminate", localRanks: ranks, signal: first }];
}

function kill(changes: readonly Change[]): readonly AgentEffect[] {
	const ranks = changes.filter(isKilled).map(({ after }) => after.localRank);
	return ranks.length === 0 ? [] : [{ kind: "kill", localRanks: ranks }];
}

function isKilled({ before, after }: Change): boolean {
	return after.kills > before.kills;
}
