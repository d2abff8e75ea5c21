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
 *   has an outcome           | nothing, for ever
 *   is past its deadline     | end
 *   the drivers are done     | end
 *   a failure not accounted  | leave the round, maybe end
 *   a node is to be replaced | refuse it
 *   synced > deprecated      | ends well; is left; gathers newcomers (running)
 *   synced = deprecated      | waits for members, charges the incident, waits
 *                            | for MIN and a last call, then lifts (open)
 */

import { limitInWords, mainLimit } from "../records/budgets.js";
import type { RunView } from "../records/run-view.js";
import { chargeIncident } from "./charge-incident.js";
import { lookAtDeadline, planDeadline } from "./deadline.js";
import { withFirstSign } from "./first-sign.js";
import { observeRound } from "./observe-round.js";
import { spent } from "./pay-incident.js";
import {
	deadlineFor,
	EMPTY_MEMORY,
	type PlannerConfig,
	type PlannerMemory,
	type PlannerTime,
	type PlanResult,
	type RoundPlan,
	wait,
} from "./plan.js";
import { planOpenRound } from "./plan-open-round.js";
import { planRunningRound, succeeded } from "./plan-running-round.js";
import { findRefusals } from "./replace-nodes.js";
import { driversDone, widenScope } from "./role-scope.js";
import { tellStory } from "./tell-story.js";
import { leaversOf } from "./why-gone.js";

/** @param nextPlanId a new plan id, used if this plan lifts a round */
export function planRound(
	seen: RunView,
	before: PlannerMemory,
	config: PlannerConfig,
	nextPlanId: string,
	time: PlannerTime,
): PlanResult {
	const { wallTime } = time;
	const view = { ...seen, leavers: before.leavers };
	const leavers = leaversOf(view);
	const memory = observeRound(view, { ...before, leavers }, wallTime);
	const decided =
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
	time: PlannerTime,
): PlanResult {
	if (view.round.outcome !== null) {
		return wait(
			`the run has ended: ${view.round.outcome.reason}`,
			EMPTY_MEMORY,
		);
	}
	const done = driversDone(view, config);
	if (done !== undefined) return planSuccess(view, known, done);
	const { now, wallTime } = time;
	const { synced, deprecated } = view.round;
	const trial =
		synced > deprecated
			? deadlineFor(synced, known.trial, config.settleTimeoutMs, now)
			: known.trial;
	const memory = { ...known, trial };
	const incident = chargeIncident(view, memory, config, time);
	if (incident !== undefined) {
		const { round, budgets, reason } = incident;
		return {
			plan: { kind: "update", round, budgets },
			memory,
			until: undefined,
			reason,
		};
	}
	return (
		planRefusals(view, memory, config, wallTime) ??
		planSweep(view, memory) ??
		(synced > deprecated
			? planRunningRound(view, memory, config, now)
			: (widenScope(view, memory) ??
				planOpenRound(view, memory, config, nextPlanId, time)))
	);
}

/** The other roles' workers are stopped with the run. */
function planSuccess(
	view: RunView,
	memory: PlannerMemory,
	reason: string,
): PlanResult {
	const round = succeeded(view, reason);
	const plan = { kind: "update", round, budgets: new Map() } as const;
	return { plan, memory, until: undefined, reason };
}

/** Tells nodes whose own budget is spent, or that are replaced, so in their seat. */
function planRefusals(
	view: RunView,
	memory: PlannerMemory,
	config: PlannerConfig,
	wallTime: number,
): PlanResult | undefined {
	const refusals = findRefusals(view, config, wallTime);
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
	const ended = { ...round, deprecated: round.synced, outcome };
	return {
		plan: { kind: "update", round: ended, budgets: new Map() },
		memory,
		until: undefined,
		reason: outcome.reason,
	};
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
