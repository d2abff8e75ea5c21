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
 *   a failure not accounted  | leave the round, charge the incident, maybe end
 *   synced > deprecated      | ends well; is left; gathers newcomers (running)
 *   synced = deprecated      | waits for members, for MIN, for a last call;
 *                            | then lifts (open)
 */

import { RECORD_VERSION, type Seat } from "../records/records.js";
import type { RunView } from "../records/run-view.js";
import { chargeIncident } from "./charge-incident.js";
import { lookAtDeadline, planDeadline } from "./deadline.js";
import { withFirstSign } from "./first-sign.js";
import { mainLimit } from "./limits.js";
import { whyBarred } from "./node-budget.js";
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
import { planRunningRound } from "./plan-running-round.js";
import { limitInWords } from "./spending.js";
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
			: planOpenRound(view, memory, config, nextPlanId, time))
	);
}

/** Tells nodes whose own budget is spent so in their seat. */
function planRefusals(
	view: RunView,
	memory: PlannerMemory,
	config: PlannerConfig,
	wallTime: number,
): PlanResult | undefined {
	let spentWords = "";
	const seats = new Map<string, Seat>();
	for (const [nodeId, budget] of view.budgets) {
		const node = view.nodes.get(nodeId);
		const seat = view.seats.get(nodeId);
		const told =
			seat !== undefined &&
			"refused" in seat &&
			seat.incarnation === node?.record.incarnation;
		const why = whyBarred(nodeId, budget, config, wallTime);
		if (node === undefined || told || why === undefined) continue;
		spentWords =
			budget.barred ??
			`the budget of ${limitInWords(mainLimit(config))} is spent`;
		seats.set(nodeId, {
			version: RECORD_VERSION,
			incarnation: node.record.incarnation,
			refused: `${why}; a node of another --node-id may take its place`,
		});
	}
	if (seats.size === 0) return undefined;
	if (config.isAlone) return planSpentEnd(view, memory, spentWords);
	return {
		plan: { kind: "refuse", seats },
		memory,
		until: undefined,
		reason: `refused: ${[...seats.keys()].join(", ")}`,
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
