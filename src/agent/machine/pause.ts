import type { WorldChangeEvent } from "../../channel/events.js";
import { type Active, beginStopping, tellToEnd } from "./begin-stopping.js";
import { goOnIfGone } from "./go-on.js";
import type { AgentEffect } from "./inputs.js";
import { inTime } from "./pending-notices.js";
import type { Next } from "./state.js";
import type { Transition, TransitionContext } from "./step.js";
import { isEnding, isToldToPause, type WorkerSlot } from "./worker-slot.js";
import { toEnd, toPausing, withLimit } from "./worker-slots.js";

const REJOIN: Next = { kind: "rejoin" };

/** Why workers are paused. */
export interface PauseCall {
	readonly change: WorldChangeEvent;
	readonly reason: string;
	/** When workers that cannot be paused are killed. */
	readonly killAt: number;
	/** A failed worker, which is not kept. */
	readonly failed?: number;
}

/**
 * Keeps the workers for the next round, with a PAUSE. A worker that has never called the runtime library cannot hear it,
 * so it is restarted.
 */
export function pause(
	state: Active,
	notice: PauseCall,
	context: TransitionContext,
): Transition {
	const { change, reason, failed } = notice;
	const { now } = context;
	const killAt = inTime(notice.killAt, state.notices, context);
	const leaveBy = now + context.pauseTimeoutMs;
	const workers = state.workers.map((worker): WorkerSlot => {
		if (worker.localRank === failed) return toEnd(worker, killAt);
		if (isToldToPause(worker)) return withLimit(worker, leaveBy);
		return worker.status === "running" && worker.attached && !isEnding(worker)
			? toPausing(worker, change, { leaveBy, killAt }, now)
			: toEnd(worker, killAt);
	});
	const stopping = {
		...beginStopping(state, workers, REJOIN, reason),
		awaitsWorkersMs: context.pauseTimeoutMs,
	};
	const after = goOnIfGone(stopping, context);
	const before = state.workers.filter(isToldToPause);
	const told = workers
		.filter(isToldToPause)
		.filter(
			({ localRank }) => !before.some((one) => one.localRank === localRank),
		);
	return {
		state: after.state,
		effects: [
			...tellToPause(told, change, reason),
			...tellToEnd(state.workers, workers),
			...warnOfDeaf(state),
			...warnOfLate(told, context),
			...after.effects,
		],
		reason,
	};
}

function tellToPause(
	told: readonly WorkerSlot[],
	change: WorldChangeEvent,
	reason: string,
): readonly AgentEffect[] {
	const localRanks = told.map(({ localRank }) => localRank);
	return told.length === 0
		? []
		: [{ kind: "pause", localRanks, change, reason }];
}

/** Once is enough: the shell suppresses repeated warnings. */
function warnOfDeaf({ phase, workers }: Active): readonly AgentEffect[] {
	const isDeaf = ({ status, attached }: WorkerSlot) =>
		phase === "RUNNING" && status === "running" && !attached;
	return workers.some(isDeaf)
		? [
				{
					kind: "warn",
					message:
						"a worker that has not called the runtime library yet cannot be paused: it is restarted; let workers call getWorkerInfo() of elastic-run/runtime as soon as they start",
				},
			]
		: [];
}

/** Where one ended late, an acknowledgement is not enough. */
function warnOfLate(
	told: readonly WorkerSlot[],
	{ pauseTimeoutMs }: TransitionContext,
): readonly AgentEffect[] {
	return told
		.filter(({ endedLate }) => endedLate)
		.map(({ localRank }) => ({
			kind: "warn",
			message: `local rank ${localRank}: one in its place ended at PAUSE when the next round had begun; now the next round waits until this worker has ended or waits for work, for ${pauseTimeoutMs / 1_000} s at most`,
		}));
}
