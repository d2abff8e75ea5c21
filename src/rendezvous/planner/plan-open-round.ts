import { awaitedMinimum, awaits, membersAwaited } from "../records/awaited.js";
import {
	type Candidates,
	findCandidates,
	missingFrom,
	nobodyLeft,
} from "../records/candidates.js";
import { currentPlaces, idsOf, type Place } from "../records/places.js";
import type { RoundRecord } from "../records/records.js";
import type { NodeView, RunView } from "../records/run-view.js";
import { resolveCharge, type Settled } from "./payment.js";
import {
	deadlineFor,
	type PlannerConfig,
	type PlannerMemory,
	type PlanResult,
	type RunTime,
	type SettleDeadline,
	update,
	wait,
} from "./plan.js";
import { succeeded } from "./plan-running-round.js";
import { delayAfterLoss } from "./progress.js";
import { widenScope } from "./role-scope.js";
import { lift, type NonEmpty } from "./seats.js";

/** No round is running: decides for which nodes to wait, and when the next round begins. */
export function planOpenRound(
	view: RunView,
	memory: PlannerMemory,
	config: PlannerConfig,
	nextPlanId: string,
	{ now, runTime }: RunTime,
): PlanResult {
	const { round } = view;
	const candidates = findCandidates(view, config);
	if (isAllDone(view, config)) return update(succeeded(view), memory);
	const kept = remember(view, memory, candidates, config, now);
	const awaited = membersAwaited(candidates, kept.outageOf !== null);
	if (round.planId !== null && awaited.length > 0 && now < kept.settle.at) {
		const here = idsOf([...candidates.members, ...candidates.newcomers]);
		return wait(
			`waiting for ${awaited.join(", ")}`,
			kept,
			kept.settle.at,
			awaits("members", view, config, { here, missing: awaited }),
		);
	}
	const silent = widenScope(view, kept, true);
	if (silent !== undefined) return silent;
	// A spent budget ends the run also where too few nodes are ready for another round.
	const settled = resolveCharge(view, config, runTime);
	if (settled?.goesOn === false) {
		return update(settled.round, kept, settled.reason, settled.budgets);
	}
	const [first, ...others] = [
		...candidates.members,
		...candidates.newcomers,
	].slice(0, config.maxNodes);
	const taking = others.length + 1 + candidates.finished.length;
	if (first === undefined || taking < config.minNodes) {
		return awaitMinimum(view, kept, config, candidates, now);
	}
	const chosen: NonEmpty<NodeView> = [first, ...others];
	if (round.planId === null && chosen.length < config.maxNodes) {
		const lastCall = deadlineFor(
			round.synced,
			memory.lastCall,
			config.lastCallTimeoutMs,
			now,
		);
		if (now < lastCall.at) {
			return wait(
				`last call: ${chosen.length} of at most ${config.maxNodes} nodes are ready`,
				{ ...kept, lastCall, join: null },
				lastCall.at,
				awaits("last-call", view, config, { here: idsOf(chosen) }),
			);
		}
	}
	return (
		planDelay(view, chosen, settled, kept, config, now) ??
		begin(view, chosen, settled, kept, nextPlanId)
	);
}

/** Whether a member that seemed lost had finished like all others: then there is nothing to repeat. */
function isAllDone(
	view: RunView,
	{ finishedStay = false }: PlannerConfig,
): boolean {
	const places = currentPlaces(view);
	// A seat that refuses its node is no place, and the node's work is not done.
	const isWhole = places.length > 0 && places.length === view.round.seats;
	const hasFinished = ({ nodeId }: Place) => view.finished.has(nodeId);
	return finishedStay && isWhole && places.every(hasFinished);
}

/** What to remember of a round that was left until the next one begins. */
function remember(
	view: RunView,
	memory: PlannerMemory,
	candidates: Candidates,
	config: PlannerConfig,
	now: number,
): PlannerMemory & { readonly settle: SettleDeadline } {
	const { synced } = view.round;
	const isOutage = memory.outageOf === synced || nobodyLeft(candidates);
	return {
		...memory,
		settle: settleBy(synced, memory.settle, candidates, config, now),
		outageOf: isOutage ? synced : null,
	};
}

/** The wait is over: the next round begins with the decision on a pending incident. */
function begin(
	view: RunView,
	chosen: NonEmpty<NodeView>,
	settled: Settled | undefined,
	memory: PlannerMemory,
	nextPlanId: string,
): PlanResult {
	if (settled === undefined) return lift(view, chosen, nextPlanId, memory);
	const { round, budgets, reason } = settled;
	const lifted = lift({ ...view, round }, chosen, nextPlanId, memory, budgets);
	const isNews = round.cause !== view.round.cause;
	return isNews ? { ...lifted, reason: `${lifted.reason}; ${reason}` } : lifted;
}

/** Fewer than MIN nodes: wait for the join time-out, then the run fails and names the missing nodes. */
function awaitMinimum(
	view: RunView,
	memory: PlannerMemory,
	config: PlannerConfig,
	candidates: Candidates,
	now: number,
): PlanResult {
	const { members, newcomers, finished } = candidates;
	const ready = idsOf([...members, ...newcomers]);
	const here = [...ready, ...finished];
	const join = deadlineFor(
		view.round.synced,
		memory.join,
		config.joinTimeoutMs,
		now,
	);
	const gone = missingFrom(view, here);
	const missing =
		describeReady(ready.length, finished.length, config) +
		(gone.length > 0 ? `; missing: ${gone.join(", ")}` : "");
	if (now < join.at) {
		return wait(
			missing,
			{ ...memory, join, lastCall: null },
			join.at,
			awaitedMinimum(view, config, candidates),
		);
	}
	const round: RoundRecord = {
		...view.round,
		outcome: {
			result: "failed",
			exitCode: 3,
			reason: `rendezvous timed out after ${config.joinTimeoutMs / 1000} s: ${missing}`,
			root: view.round.cause.root,
		},
	};
	return update(round, memory, missing);
}

/** Finished nodes count, but at least one node must do the remaining work. */
function describeReady(
	ready: number,
	finished: number,
	{ minNodes }: Pick<PlannerConfig, "minNodes">,
): string {
	if (finished === 0) return `${ready} of at least ${minNodes} nodes are ready`;
	const words = `${ready} ready and ${finished} finished, of at least ${minNodes} nodes`;
	return ready === 0 ? `${words}; no node is left for the rest` : words;
}

/**
 * The coordinator waits longer for a node that waits for its own paused workers, by the time that the node asks for. From
 * then on it waits that long for all nodes, because events on the others need their time as well.
 */
function settleBy(
	round: number,
	known: SettleDeadline | null,
	{ lateForMs }: Candidates,
	{ settleTimeoutMs }: PlannerConfig,
	now: number,
): SettleDeadline {
	const { at } = deadlineFor(round, known, settleTimeoutMs, now);
	const longerByMs = known?.round === round ? known.longerByMs : 0;
	const moreMs = Math.max(0, lateForMs - longerByMs);
	return { round, at: at + moreMs, longerByMs: longerByMs + moreMs };
}

/** While nothing makes progress, a restart waits; the time since the round was left counts. */
function planDelay(
	view: RunView,
	chosen: NonEmpty<NodeView>,
	settled: Settled | undefined,
	kept: PlannerMemory & { readonly settle: SettleDeadline },
	config: PlannerConfig,
	now: number,
): PlanResult | undefined {
	const { at, longerByMs } = kept.settle;
	const leftAt = at - longerByMs - config.settleTimeoutMs;
	const { round = view.round } = settled ?? {};
	const isLoss = round.cause.kind === "scale-down";
	const delayMs = isLoss ? delayAfterLoss(view, round, config) : 0;
	const until = leftAt + (settled?.delayMs ?? delayMs);
	if (now >= until) return undefined;
	const times = round.fruitless ?? 0;
	return wait(
		`waits before the restart: ${times} rounds in a row have ended before anything moved`,
		kept,
		until,
		awaits("delay", view, config, { here: idsOf(chosen) }),
	);
}
