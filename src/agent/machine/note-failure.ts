import { EXIT_CODES } from "../../base/errors.js";
import { fingerprintOf } from "../../evidence/fingerprint.js";
import { type Trace, traceWords } from "../../evidence/parse-trace.js";
import type { RuleCause } from "../../policies/rules/rule.js";
import type { Charge, PolicyContext } from "../../policies/strategy.js";
import { OUT_OF_MEMORY, type WorkerExit } from "../../processes/index.js";
import type { WorkerError } from "../../report/run-report.js";
import type { Active } from "./begin-stopping.js";
import type { AgentInput } from "./inputs.js";
import { isShortage } from "./shortage.js";
import type { TransitionContext } from "./step.js";
import { isBehind } from "./worker-slot.js";
import { update } from "./worker-slots.js";

/** A worker's failure, as far as the agent's shell can describe it. */
export interface Failure {
	readonly localRank: number;
	readonly pid: number | null;
	readonly exitCode: number;
	readonly description: string;
	readonly hint?: string | undefined;
	readonly exit?: WorkerExit;
	readonly error?: WorkerError | undefined;
	/** Why it failed, for rules; undefined: it ended by itself. It has no pid if it could not be started. */
	readonly cause?: RuleCause | undefined;
	/** The last lines of its stderr, if there is no error file. */
	readonly lastLines?: string | undefined;
	/** The exception that ended it, as far as it is known. */
	readonly trace?: Trace | undefined;
	/** The worker's last step in this round; undefined if it has made none. */
	readonly step?: number | undefined;
	readonly startedWarm?: boolean | undefined;
	/** What was found out before it was killed, in at most five lines. */
	readonly evidence?: readonly string[] | undefined;
	/** The run's exit code, if a retry cannot help. */
	readonly failsRun?: number | undefined;
	/** This node cannot start workers; another one may. */
	readonly isOfNode?: boolean;
	/** Nothing has failed: the worker waits for another round. */
	readonly isWish?: boolean;
	/** Its node is not known to be at fault: the worker stands for its round. */
	readonly isUnattributed?: boolean | undefined;
	/** How long it has waited or failed unnoticed, in milliseconds. */
	readonly unseenMs?: number;
	/** How long it had been up, if its process has not ended and that is known, in milliseconds. */
	readonly uptimeMs?: number | undefined;
	/** Its process has not ended. */
	readonly isGivenUp?: boolean;
}

/**
 * The state with this failure as its last, with a permanent name from node, process and sequence. Later failures in the
 * same round belong to the same incident and do not replace the first, unless that was a wish, or the new one ends the
 * run.
 */
export function withFailure<State extends Active>(
	state: State,
	failure: Failure,
	charge: Charge,
	failsRun: number | null,
	context: TransitionContext,
	rule?: string,
): State {
	const { failure: earlier, phase, round } = state;
	const { localRank } = failure;
	const isKnown = earlier?.failure.round === round && earlier.isWish !== true;
	if (isKnown && failsRun === null) return state;
	const sequence = state.failuresReported + 1;
	const isPaused = isOfRoundBefore(state, failure, context.now);
	const workers = isPaused
		? update(state.workers, localRank, (one) => ({ ...one, excusedIn: round }))
		: state.workers;
	return {
		...state,
		workers,
		failuresReported: sequence,
		failure: {
			charge,
			failsRun,
			unaware: phase === "RUNNING" || undefined,
			paused: isPaused || undefined,
			isWish: failure.isWish,
			failure: {
				id: `${context.nodeId}/${context.incarnation}/${sequence}`,
				nodeId: context.nodeId,
				round,
				rank: rankOf(state, localRank),
				localRank,
				role: state.seat?.role ?? "",
				pid: failure.pid,
				exitCode: failure.exitCode,
				signal: failure.exit?.signal ?? null,
				isGivenUp: failure.isGivenUp,
				uptimeMs: uptimeOf(failure),
				timestamp: context.wallTime - (failure.unseenMs ?? 0),
				description: failure.description,
				hint: failure.hint,
				rule,
				evidence: failure.evidence,
				message: failure.error?.message,
				step: failure.step,
				startedWarm: failure.startedWarm,
				isUnattributed: failure.isUnattributed || undefined,
				said: failure.trace && traceWords(failure.trace),
				fingerprint: fingerprint(failure, rankOf(state, localRank)),
			},
		},
	};
}

/** How long the worker had been up, in milliseconds; 0 if that is not known. */
export function uptimeOf({ exit, uptimeMs = 0 }: Failure): number {
	return exit?.uptimeMs ?? uptimeMs;
}

/** Undefined if it was not seen to fail by itself. */
function fingerprint(failure: Failure, rank: number): string | undefined {
	const { cause, pid, exit, exitCode, hint } = failure;
	const { trace, step, description } = failure;
	const isCrash = cause === "crash";
	const isHang = cause !== undefined && !isCrash && pid !== null;
	if (exit === undefined && !isHang && !isCrash) return undefined;
	return fingerprintOf({
		...{ exitCode, trace, rank, step, description },
		kind: isHang ? "hang" : "exit",
		signal: exit?.signal ?? null,
		isOutOfMemory: hint?.startsWith(OUT_OF_MEMORY) ?? false,
	});
}

/**
 * Whether the failure belongs to what ended the worker's last round: the worker was paused, or had not gone on since. A
 * place has this excuse once in an incident.
 */
function isOfRoundBefore(
	{ phase, workers, view }: Active,
	{ localRank, isWish = false, unseenMs = 0 }: Failure,
	now: number,
): boolean {
	const slot = workers.find((worker) => worker.localRank === localRank);
	if (slot === undefined || isWish) return false;
	const { root, ended } = view?.round.cause ?? {};
	const firstRound = root?.round ?? ended ?? 0;
	const isExcused = slot.excusedIn !== null && slot.excusedIn >= firstRound;
	return !isExcused && (phase !== "RUNNING" || isBehind(slot, now - unseenMs));
}

/** The worker's global rank, in its present or last round. */
export function rankOf({ seat }: Active, localRank: number): number {
	return (seat?.firstRank ?? 0) + localRank;
}

export function policyContext(
	state: Active,
	cause: string,
	context: TransitionContext,
): PolicyContext {
	return {
		runId: context.runId,
		nodeId: context.nodeId,
		round: state.round,
		maxRestarts: context.maxRestarts,
		charged: state.view?.round.charged ?? 0,
		cause,
	};
}

/** If the command or this node is at fault, a retry there cannot help. */
export function notStarted(
	input: AgentInput & { kind: "worker-not-started" },
): Failure {
	const { code, message } = input.problem;
	const fatal = new Map([
		["ENOENT", EXIT_CODES.notFound],
		["EACCES", EXIT_CODES.notExecutable],
		["ENOEXEC", EXIT_CODES.notExecutable],
		["E2BIG", EXIT_CODES.notExecutable],
		["ERR_INVALID_ARG_VALUE", EXIT_CODES.notExecutable],
	]).get(code);
	return {
		localRank: input.localRank,
		pid: null,
		exitCode: fatal ?? EXIT_CODES.failed,
		description: `cannot be started: ${message}`,
		...{ failsRun: fatal, cause: "start" },
		isOfNode: code === "UNPREPARED" || isShortage(code),
	};
}

/** A decision that fails the run without a failed worker, attributed to the node's first rank. */
export function policyFailure(reason: string): Failure {
	return {
		localRank: 0,
		pid: null,
		exitCode: EXIT_CODES.failed,
		description: reason,
	};
}
