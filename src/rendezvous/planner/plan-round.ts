import { limitInWords, mainLimit, windowInWords } from "../records/budgets.js";
import type { RoundRecord } from "../records/records.js";
import type { RunView } from "../records/run-view.js";
import { leaversOf } from "./departures.js";
import { chargeIncident } from "./incident.js";
import { lifeOf, runTimeOf } from "./life.js";
import { observeRound } from "./observe-round.js";
import { spent } from "./payment.js";
import {
	deadlineFor,
	EMPTY_MEMORY,
	type PlannerConfig,
	type PlannerMemory,
	type PlannerTime,
	type PlanResult,
	type RoundPlan,
	type RunTime,
	update,
	wait,
} from "./plan.js";
import { planOpenRound } from "./plan-open-round.js";
import { planRunningRound, succeeded } from "./plan-running-round.js";
import { findRefusals } from "./replace-nodes.js";
import { type Planner, planRiders } from "./riders.js";
import { driversDone, widenScope } from "./role-scope.js";
import { tellStory, withFirstSign } from "./story.js";

/*
 * What the coordinator does next, as one pure function of what it sees.
 *
 * 1. Everything that decides is here or below; nothing awaits, logs, reads a
 *    clock or draws a random number.
 * 2. A deadline is a field of the memory; the caller holds one timer, at
 *    `until`. A deadline of another round is forgotten.
 * 3. Every result says its reason in words.
 *
 *   round                    | what may happen
 *   -------------------------|------------------------------------------------
 *   may be ridden unseen     | nothing, or another agent plans (riders)
 *   has an outcome           | nothing, for ever
 *   is past its deadline     | end
 *   the drivers are done     | end
 *   a failure not accounted  | leave the round, maybe end
 *   a node is to be replaced | refuse it
 *   synced > deprecated      | ends well; is left; gathers newcomers (running)
 *   synced = deprecated      | waits for members, charges the incident, waits
 *                            | for MIN and a last call, then lifts (open)
 */

/**
 * @param nextPlanId a new plan id, used if this plan lifts a round
 * @param planner undefined where no members can ride out an outage
 */
export function planRound(
	seen: RunView,
	before: PlannerMemory,
	config: PlannerConfig,
	nextPlanId: string,
	{ now, wallTime }: PlannerTime,
	planner?: Planner,
): PlanResult {
	const view = { ...seen, leavers: before.leavers };
	const leavers = leaversOf(view);
	const life = lifeOf(view, before.life, now);
	const time = { now, wallTime, runTime: runTimeOf(life, now) };
	const memory = observeRound(view, { ...before, leavers, life }, wallTime);
	const decided =
		(planner && planRiders(view, memory, config, now, planner)) ??
		planDeadline(view, memory, config, time) ??
		decide(view, memory, config, nextPlanId, time);
	const result = lookAtDeadline(decided, view.round, config, time);
	if (result.plan === undefined || !("round" in result.plan)) return result;
	const cause = withFirstSign(view, result.plan.round, config, wallTime);
	const plan = { ...result.plan, round: { ...result.plan.round, cause } };
	return { ...result, plan: recorded(view, plan, memory, wallTime) };
}

/** The plan with its entry for the run's history. */
function recorded(
	view: RunView,
	plan: RoundPlan,
	memory: PlannerMemory,
	wallTime: number,
): RoundPlan {
	const { round } = plan;
	const outcome = round.outcome && { ...round.outcome, endedAt: wallTime };
	return {
		...plan,
		round: { ...round, outcome },
		story: tellStory(view, plan, memory, wallTime),
	};
}

function decide(
	view: RunView,
	known: PlannerMemory,
	config: PlannerConfig,
	nextPlanId: string,
	time: RunTime,
): PlanResult {
	if (view.round.outcome !== null) {
		return wait(
			`the run has ended: ${view.round.outcome.reason}`,
			EMPTY_MEMORY,
		);
	}
	const done = driversDone(view, config);
	// The other roles' workers are stopped with the run.
	if (done !== undefined) return update(succeeded(view, done), known);
	const { now } = time;
	const { synced, deprecated } = view.round;
	const trial =
		synced > deprecated
			? deadlineFor(synced, known.trial, config.settleTimeoutMs, now)
			: known.trial;
	const memory = { ...known, trial };
	const incident = chargeIncident(view, memory, config, time);
	if (incident !== undefined) {
		const { round, budgets, reason } = incident;
		return update(round, memory, reason, budgets);
	}
	return (
		planRefusals(view, memory, config, time) ??
		planSweep(view, memory) ??
		(synced > deprecated
			? planRunningRound(view, memory, config, time)
			: (widenScope(view, memory) ??
				planOpenRound(view, memory, config, nextPlanId, time)))
	);
}

/** Tells nodes whose own budget is spent, or that are replaced, so in their seat. */
function planRefusals(
	view: RunView,
	memory: PlannerMemory,
	config: PlannerConfig,
	time: RunTime,
): PlanResult | undefined {
	const refusals = findRefusals(view, config, time);
	const [first] = refusals.seats.keys();
	if (first === undefined) return undefined;
	if (config.isAlone) {
		const why = view.budgets.get(first)?.barred;
		const spent = `the budget of ${limitInWords(mainLimit(config))} is spent`;
		return planSpentEnd(view, memory, why ?? spent);
	}
	return {
		plan: { kind: "refuse", ...refusals },
		memory,
		until: undefined,
		reason: `refused: ${[...refusals.seats.keys()].join(", ")}`,
	};
}

/** The run ends if no node can replace the one whose budget is spent. */
function planSpentEnd(
	{ round }: RunView,
	memory: PlannerMemory,
	why: string,
): PlanResult {
	const outcome = spent(round, why);
	return update({ ...round, deprecated: round.synced, outcome }, memory);
}

/** Deletes seats of an earlier plan once a round is synced. */
function planSweep(
	view: RunView,
	memory: PlannerMemory,
): PlanResult | undefined {
	if (view.round.synced === view.round.deprecated) return undefined;
	const { planId } = view.round;
	const stale = [...view.seats]
		.filter(([, seat]) => "planId" in seat && seat.planId !== planId)
		.map(([nodeId]) => nodeId);
	if (stale.length === 0) return undefined;
	return {
		plan: { kind: "sweep", nodeIds: stale },
		memory,
		until: undefined,
		reason: `seats of an earlier plan: ${stale.join(", ")}`,
	};
}

/** The end of a run that has taken too long; undefined if it may go on. */
function planDeadline(
	{ round }: Pick<RunView, "round">,
	memory: PlannerMemory,
	config: PlannerConfig,
	time: RunTime,
): PlanResult | undefined {
	const leftMs = leftToRunMs(round, config, time);
	if (round.outcome !== null || leftMs === undefined || leftMs > 0) {
		return undefined;
	}
	const reason = `deadline of ${windowInWords(config.deadlineMs ?? 0)}`;
	const outcome = {
		result: "failed",
		exitCode: 1,
		reason,
		root: null,
	} as const;
	return update({ ...round, outcome }, memory);
}

/** The result with a next look at the deadline at the latest. */
function lookAtDeadline(
	result: PlanResult,
	round: Pick<RoundRecord, "instance">,
	config: PlannerConfig,
	time: RunTime,
): PlanResult {
	const leftMs = leftToRunMs(round, config, time);
	if (leftMs === undefined || leftMs <= 0) return result;
	const { until = Number.POSITIVE_INFINITY } = result;
	return { ...result, until: Math.min(until, time.now + leftMs) };
}

/** How long the run may still take, in milliseconds; undefined if it has no deadline. */
function leftToRunMs(
	{ instance }: Pick<RoundRecord, "instance">,
	{ deadlineMs }: PlannerConfig,
	{ runTime }: RunTime,
): number | undefined {
	return deadlineMs === undefined ? undefined : instance + deadlineMs - runTime;
}
