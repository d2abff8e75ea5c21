import { EXIT_CODES, isShortage } from "../../base/errors.js";
import {
	fingerprintOf,
	isInVain,
	phaseHint,
	traceWords,
} from "../../failures/index.js";
import {
	decide as askPolicy,
	type Charge,
	decisionOf,
	firstMatch,
	type PolicyContext,
	type RestartDecision,
	type Rule,
	type Verdict,
	withoutCulprit,
} from "../../policies/index.js";
import { OUT_OF_MEMORY, type SpawnProblem } from "../../processes/index.js";
import type { FailureRecord } from "../../rendezvous/index.js";
import type { Failure, TransitionContext } from "./inputs.js";
import { type Facts, rankOf } from "./state.js";
import {
	isBehind,
	isDue,
	type Unexplained,
	update,
	type WorkerSlot,
} from "./worker.js";

/** Rules are asked before the policy. Undefined if a retry on this node cannot help, as far as the launcher knows. */
export function verdictOn(
	facts: Facts,
	failure: Failure,
	cause: string,
	context: TransitionContext,
): Verdict | undefined {
	const isHopeless =
		failure.isOfNode === true || failure.failsRun !== undefined;
	const rule = ruleOn(facts, failure, isHopeless, context);
	if (isHopeless && rule === undefined) return undefined;
	const ask = () => policyOnFailure(facts, failure, cause, context);
	const verdict = rule === undefined ? ask() : decisionOf(rule, ask);
	return failure.isUnattributed ? withoutCulprit(verdict) : verdict;
}

/** The rule that decides. Where a retry cannot help, only one with `cause=start` does: its author meant such failures. */
function ruleOn(
	facts: Facts,
	failure: Failure,
	isHopeless: boolean,
	{ rules, nodeId }: TransitionContext,
): Rule | undefined {
	// A hang that `--on-hang fail` ends has a pid.
	if (isHopeless && failure.pid !== null) return undefined;
	return firstMatch(isHopeless ? rules.filter(namesStart) : rules, {
		exit: failure.exitCode,
		signal: failure.exit?.signal ?? null,
		error: failure.error?.message ?? failure.lastLines ?? "",
		cause: failure.cause ?? "crash",
		role: facts.seat?.role ?? "",
		node: nodeId,
		rank: rankOf(facts, failure.localRank),
		round: facts.round,
		uptimeMs: uptimeOf(failure),
	});
}

function namesStart({ terms }: Rule): boolean {
	return terms.some((term) => term.kind === "cause" && term.cause === "start");
}

/** What the policy decides about a failure. */
export function policyOnFailure(
	facts: Facts,
	failure: Failure,
	cause: string,
	context: TransitionContext,
): RestartDecision {
	const { policy } = context;
	return askPolicy(policy.name, "failure", () =>
		policy.onWorkerFailure({
			...policyContext(facts, cause, context),
			rank: rankOf(facts, failure.localRank),
			localRank: failure.localRank,
			role: facts.seat?.role ?? "",
			exitCode: failure.exitCode,
			signal: failure.exit?.signal ?? null,
			uptimeMs: uptimeOf(failure),
			errorMessage: failure.error?.message,
		}),
	);
}

/** What the policy decides about a change of the members. */
export function policyOnChange(
	facts: Facts,
	change: "SCALE_UP" | "SCALE_DOWN",
	cause: string,
	context: TransitionContext,
): RestartDecision {
	const { policy } = context;
	const about = policyContext(facts, cause, context);
	return askPolicy(policy.name, "scale", () =>
		change === "SCALE_UP" ? policy.onScaleUp(about) : policy.onScaleDown(about),
	);
}

function policyContext(
	{ round, view }: Facts,
	cause: string,
	{ runId, nodeId, maxRestarts }: TransitionContext,
): PolicyContext {
	const charged = view?.round.charged ?? 0;
	return { runId, nodeId, round, maxRestarts, charged, cause };
}

export interface Account {
	readonly charge: Charge;
	/** The run's exit code, if the failure ends the run. */
	readonly failsRun: number | null;
	readonly rule?: string | undefined;
}

/**
 * With this failure as the last. Later failures in the same round belong to the same incident and do not replace the first,
 * unless that was a wish, or the new one ends the run.
 */
export function withFailure(
	facts: Facts,
	failure: Failure,
	{ charge, failsRun, rule }: Account,
	context: TransitionContext,
): Facts {
	const { failure: earlier, phase, round } = facts;
	const isKnown = earlier?.failure.round === round && earlier.isWish !== true;
	if (isKnown && failsRun === null) return facts;
	const isPaused = isOfRoundBefore(facts, failure, context.now);
	return {
		...facts,
		workers: isPaused
			? update(facts.workers, failure.localRank, (worker) => ({
					...worker,
					excusedIn: round,
				}))
			: facts.workers,
		failuresReported: facts.failuresReported + 1,
		failure: {
			charge,
			failsRun,
			unaware: phase === "RUNNING" || undefined,
			paused: isPaused || undefined,
			isWish: failure.isWish,
			failure: { ...recordOf(facts, failure, context), rule },
		},
	};
}

/** A failure under a permanent name from node, process and sequence. */
function recordOf(
	facts: Facts,
	failure: Failure,
	{ nodeId, incarnation, wallTime }: TransitionContext,
): FailureRecord {
	const sequence = facts.failuresReported + 1;
	const rank = rankOf(facts, failure.localRank);
	const same = fingerprint(failure, rank);
	return {
		id: `${nodeId}/${incarnation}/${sequence}`,
		nodeId,
		round: facts.round,
		rank,
		localRank: failure.localRank,
		role: facts.seat?.role ?? "",
		pid: failure.pid,
		exitCode: failure.exitCode,
		signal: failure.exit?.signal ?? null,
		isGivenUp: failure.isGivenUp,
		uptimeMs: uptimeOf(failure),
		timestamp: wallTime - (failure.unseenMs ?? 0),
		description: failure.description,
		hint: phaseHint(same, facts.view?.round.repeated) ?? failure.hint,
		evidence: failure.evidence,
		message: failure.error?.message,
		step: failure.step,
		startedWarm: failure.startedWarm,
		isUnattributed: failure.isUnattributed || undefined,
		said: failure.trace && traceWords(failure.trace),
		fingerprint: same,
		isInVain: isInVain(failure) || undefined,
	};
}

/** How long the worker had been up, in milliseconds; 0 if that is not known. */
function uptimeOf({ exit, uptimeMs = 0 }: Failure): number {
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
		exitCode,
		trace,
		rank,
		step,
		description,
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
	{ phase, workers, view }: Facts,
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

/** If the command or this node is at fault, a retry there cannot help. */
export function notStarted(
	localRank: number,
	{ code, message }: SpawnProblem,
): Failure {
	const fatal = new Map([
		["ENOENT", EXIT_CODES.notFound],
		["EACCES", EXIT_CODES.notExecutable],
		["ENOEXEC", EXIT_CODES.notExecutable],
		["E2BIG", EXIT_CODES.notExecutable],
		["ERR_INVALID_ARG_VALUE", EXIT_CODES.notExecutable],
	]).get(code);
	return {
		localRank,
		pid: null,
		exitCode: fatal ?? EXIT_CODES.failed,
		description: `cannot be started: ${message}`,
		failsRun: fatal,
		cause: "start",
		isOfNode: code === "UNPREPARED" || isShortage(code),
	};
}

/** A failure of a worker whose process has not ended. */
export function givenUp(
	{ workers }: Facts,
	localRank: number,
	description: string,
): Failure {
	const slot = workers.find((worker) => worker.localRank === localRank);
	const pid = slot?.pid ?? null;
	const exitCode = EXIT_CODES.failed;
	return { localRank, pid, exitCode, description, isGivenUp: true };
}

/** A decision that fails the run without a failed worker, attributed to the node's first rank. */
export function policyFailure(description: string): Failure {
	const exitCode = EXIT_CODES.failed;
	return { localRank: 0, pid: null, exitCode, description };
}

/** The first death that was not explained in time. */
export function dueFailure(
	{ workers }: Facts,
	now: number,
): Failure | undefined {
	const due = inOrder(workers).find(({ until }) => isDue(until, now));
	return due && toFailure(due, now);
}

/** The earliest failure: a pending death came before the failure just reported. */
export function firstFailure(
	{ workers }: Facts,
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
		.flatMap((worker) => worker.unexplained ?? [])
		.sort((a, b) => a.since - b.since);
}
