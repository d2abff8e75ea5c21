import type { WorldChangeEvent } from "../../channel/events.js";
import { type Active, beginStopping, tellToEnd } from "./begin-stopping.js";
import { goOnIfGone } from "./go-on.js";
import type { AgentEffect } from "./inputs.js";
import type { Next } from "./state.js";
import type { Transition, TransitionContext } from "./step.js";
import { isToldToPause, type WorkerSlot } from "./worker-slot.js";
import { toEnd, toPaused } from "./worker-slots.js";

const REJOIN: Next = { kind: "rejoin" };

/** Why workers are paused. */
export interface Notice {
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
	notice: Notice,
	context: TransitionContext,
): Transition {
	const { change, reason, killAt, failed } = notice;
	const { now } = context;
	const ackBy = now + context.pauseTimeoutMs;
	const isRunning = state.phase === "RUNNING";
	const workers = state.workers.map((worker): WorkerSlot => {
		if (worker.localRank === failed) return toEnd(worker, killAt);
		if (isToldToPause(worker)) return worker;
		return isRunning && worker.status === "running" && worker.attached
			? toPaused(worker, change, { round: state.round, ackBy, killAt }, now)
			: toEnd(worker, killAt);
	});
	// If it ends or is given up after its PAUSE, its node is as late as if it had waited for it.
	const isLate =
		!isRunning || workers.some(({ status }) => status === "awaited");
	const stopping = {
		...beginStopping(state, workers, REJOIN, reason),
		...(isLate && { awaitsWorkersMs: context.pauseTimeoutMs }),
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
			...warnOfAwaited(told, context),
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

/** The next round of the others waits for them. */
function warnOfAwaited(
	told: readonly WorkerSlot[],
	{ now, pauseTimeoutMs }: TransitionContext,
): readonly AgentEffect[] {
	return told
		.filter(({ status }) => status === "awaited")
		.map(({ localRank, manner, awaitedUntil }) => {
			const mostMs = (awaitedUntil ?? now + pauseTimeoutMs) - now;
			const [what, until] =
				manner === "silent"
					? ["did not acknowledge PAUSE", "has"]
					: [
							"ended at PAUSE when the next round had begun",
							"has ended or waits for work",
						];
			const message = `local rank ${localRank}: one in its place ${what}; now the next round waits until this worker ${until}, for ${Math.ceil(Math.round(mostMs) / 1_000)} s at most`;
			return { kind: "warn", message };
		});
}
