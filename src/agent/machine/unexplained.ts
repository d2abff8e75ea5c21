import { STOP_CODES } from "../../processes/index.js";
import { type Active, beginStopping } from "./begin-stopping.js";
import type { AgentInput } from "./inputs.js";
import { type Failure, rankOf } from "./note-failure.js";
import type { Transition } from "./step.js";
import {
	isEnding,
	type Unexplained,
	unexplainedOf,
	type WorkerSlot,
} from "./worker-slot.js";
import { isDue, update } from "./worker-slots.js";

/** How long a worker's death of SIGTERM or SIGINT waits for the launcher's own signal, in milliseconds. */
const WAITS_FOR_SIGNAL_MS = 500;

type Exit = AgentInput & { kind: "worker-exited" };

/**
 * A scheduler that stops a job signals its whole process tree, and workers die a few milliseconds before this launcher
 * gets its signal. Such a death is noted, and the other workers continue until its time is over; undefined for any other
 * death. A node that was ready for a round is not ready while it waits.
 */
export function whileUnexplained(
	state: Active,
	exit: Exit,
	now: number,
): Transition | undefined {
	const { localRank, exitCode, description } = exit;
	const slot = state.workers.find((worker) => worker.localRank === localRank);
	const isStop = STOP_CODES.includes(exitCode) && !exit.exit.signalledByAgent;
	if (!isStop || slot === undefined || isEnding(slot)) return undefined;
	const until = now + WAITS_FOR_SIGNAL_MS;
	const unexplained = { exit, since: now, until };
	const workers = update(state.workers, localRank, (worker) =>
		"unexplained" in worker ? { ...worker, unexplained } : worker,
	);
	const reason = `rank ${rankOf(state, localRank)} ended (${description}), and this launcher has not told it to: waits ${WAITS_FOR_SIGNAL_MS / 1000} s for a signal to itself`;
	return {
		state:
			state.phase === "JOINING"
				? beginStopping(state, workers, { kind: "rejoin" }, reason)
				: { ...state, workers },
		effects: [],
		reason,
	};
}

/** The first death that was not explained in time. */
export function dueFailure(
	workers: readonly WorkerSlot[],
	now: number,
): Failure | undefined {
	const due = inOrder(workers).find(({ until }) => isDue(until, now));
	return due === undefined ? undefined : toFailure(due, now);
}

/** The earliest failure: a pending death came before the failure just reported. */
export function firstFailure(
	workers: readonly WorkerSlot[],
	failure: Failure,
	now: number,
): Failure {
	const [first] = inOrder(workers);
	return first === undefined ? failure : toFailure(first, now);
}

function toFailure({ exit, since }: Unexplained, now: number): Failure {
	return { ...exit, unseenMs: now - since };
}

function inOrder(workers: readonly WorkerSlot[]): readonly Unexplained[] {
	return workers
		.flatMap((worker) => unexplainedOf(worker) ?? [])
		.sort((a, b) => a.since - b.since);
}
