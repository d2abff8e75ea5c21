import { awaitedInRound, isClosed } from "../records/awaited.js";
import { newcomersOf } from "../records/candidates.js";
import {
	currentPlaces,
	holderOf,
	idsOf,
	type Place,
} from "../records/places.js";
import type { RoundCause, RoundRecord } from "../records/records.js";
import type { RunView } from "../records/run-view.js";
import { neededPlaces, whyFenced, whyGone } from "./departures.js";
import { countPreemption } from "./payment.js";
import {
	deadlineFor,
	type PlannerConfig,
	type PlannerMemory,
	type PlanResult,
	type RunTime,
	update,
	wait,
} from "./plan.js";
import { fruitlessAfterLoss } from "./progress.js";
import { reasonIn, restarting } from "./role-scope.js";

/** A round is running: decides whether it ends well, must be left, or admits newcomers. */
export function planRunningRound(
	view: RunView,
	memory: PlannerMemory,
	config: PlannerConfig,
	{ now, runTime }: RunTime,
): PlanResult {
	const seats = currentPlaces(view);
	if (seats.length > 0 && seats.length === view.finished.size) {
		return update(succeeded(view), { ...memory, lastCall: null });
	}
	const { reasons: departures, roles } = departed(view);
	if (departures.length > 0) {
		const outageOf = isOutage(view) ? view.round.synced : null;
		const hasLived = now >= (memory.trial?.at ?? Number.POSITIVE_INFINITY);
		const cause: RoundCause = {
			kind: "scale-down",
			changeEvent: "SCALE_DOWN",
			reason: reasonIn(view, roles, departures.join("; ")),
			root: null,
			...restarting(view, roles),
		};
		const fruitless = fruitlessAfterLoss(view, hasLived);
		const round = { ...left(view, cause), fruitless };
		return update(
			outageOf === null ? countPreemption(view, round, config, runTime) : round,
			{ ...memory, outageOf, lastCall: null },
		);
	}
	return gatherNewcomers(view, memory, config, now);
}

/** Scale-up: gathers newcomers while the round runs, then leaves it once for all of them. */
function gatherNewcomers(
	view: RunView,
	memory: PlannerMemory,
	config: PlannerConfig,
	now: number,
): PlanResult {
	const newcomers = newcomersOf(view);
	const free = config.maxNodes - view.round.seats;
	const nodeIds = idsOf(newcomers);
	if (newcomers.length === 0 || free <= 0 || isClosed(view, config)) {
		return wait(
			`round ${view.round.synced} runs`,
			{ ...memory, settle: null, outageOf: null, lastCall: null, join: null },
			undefined,
			awaitedInRound(view, config),
		);
	}
	const names = nodeIds.join(", ");
	const lastCall = deadlineFor(
		view.round.synced,
		memory.lastCall,
		config.lastCallTimeoutMs,
		now,
	);
	if (newcomers.length < free && now < lastCall.at) {
		return wait(
			`last call: ${names} would join`,
			{ ...memory, lastCall },
			lastCall.at,
			awaitedInRound(view, config),
		);
	}
	return update(
		left(view, {
			kind: "scale-up",
			changeEvent: "SCALE_UP",
			reason: `joining: ${names}`,
			root: null,
			...restarting(
				view,
				newcomers.map(({ record }) => record.role),
			),
		}),
		{ ...memory, lastCall: null },
	);
}

/**
 * Whether no member has held its lease since the round's last change: the present nodes have come back, and the others
 * are on their way.
 */
function isOutage(view: RunView): boolean {
	return currentPlaces(view).every((place) => {
		const holder = holderOf(view, place);
		return holder === undefined || holder.createRevision > view.roundRevision;
	});
}

/** Why the round cannot continue with all its members, one line each, and the roles of these members. */
function departed(view: RunView) {
	const found = neededPlaces(view).flatMap((place) => {
		const reason =
			whyGone(view, place) ??
			whyFenced(view, place) ??
			asksForRound(view, place) ??
			"";
		return reason === "" ? [] : [{ reason, role: place.role }];
	});
	return {
		reasons: found.map(({ reason }) => reason),
		roles: [...new Set(found.map(({ role }) => role))],
	};
}

function asksForRound(view: RunView, place: Place): string | undefined {
	const { claim = 0, cause = null } = holderOf(view, place)?.record ?? {};
	const why = cause === null ? "" : `: ${cause}`;
	return claim > view.round.synced
		? `${place.nodeId} asks for a new round${why}`
		: undefined;
}

/** The round with the outcome `succeeded`. A node finishes also where the failure of a worker was ignored. */
export function succeeded(
	{ round }: RunView,
	reason = "all nodes have finished",
): RoundRecord {
	return {
		...round,
		outcome: {
			result: "succeeded",
			exitCode: 0,
			reason,
			root: null,
		},
	};
}

function left({ round }: RunView, cause: RoundCause): RoundRecord {
	const { synced } = round;
	return { ...round, deprecated: synced, cause: { ...cause, ended: synced } };
}
