import { isRestarting } from "../records/candidates.js";
import { currentPlaces, holderOf, type Place } from "../records/places.js";
import type { RoundCause } from "../records/records.js";
import type { RunView } from "../records/run-view.js";
import { whyFenced, whyGone } from "./departures.js";
import {
	type PlannerConfig,
	type PlannerMemory,
	type PlanResult,
	update,
} from "./plan.js";

/*
 * `--failover-scope role` of a role's agents: what befalls it is answered by its own nodes. The round is the run's as ever,
 * but the nodes of the other roles are ready for the next one at once, while their workers run on. What befalls a role
 * without it restarts the whole run.
 *
 *   a role that restarts because          | is found when
 *   --------------------------------------|------------------------------------------
 *   a worker of it failed                 | the incident is accounted for
 *   a node of it is gone, or comes        | the running round is left
 *   a node of it does not run on, while   | before the next round begins
 *   others of it do                       |
 */

/** Whether what befalls these roles restarts no other. */
function restartAlone(
	{ round: { terms = {} }, nodes }: RunView,
	roles: readonly string[],
): boolean {
	return roles.every((role) => {
		const own = Object.hasOwn(terms, role) ? terms[role] : undefined;
		if (own !== undefined) return own.restartsAlone;
		// It may be new in the run.
		return [...nodes.values()].some(
			({ record }) =>
				record.role === role && record.terms?.restartsAlone === true,
		);
	});
}

/** The part of a round's cause that names the roles which restart; `roles` is undefined if that is the whole run. */
export function restarting(
	view: RunView,
	roles: readonly string[],
): Pick<RoundCause, "roles"> {
	const { synced, deprecated, cause } = view.round;
	const isOpen = deprecated >= synced;
	const isWhole = isOpen && cause.roles === undefined;
	if (isWhole || !restartAlone(view, roles)) return { roles: undefined };
	const before = isOpen ? (cause.roles ?? []) : [];
	return { roles: [...new Set([...before, ...roles])] };
}

/** A reason that names the roles, for the workers of others. */
export function reasonIn(
	view: RunView,
	roles: readonly string[],
	reason: string,
): string {
	return restartAlone(view, roles)
		? `role ${roles.join(", ")}: ${reason}`
		: reason;
}

/**
 * Has a role restart whose nodes would not all run on: its workers belong together.
 * @param isOver whether the wait for nodes that have not answered is over
 */
export function widenScope(
	view: RunView,
	memory: PlannerMemory,
	isOver = false,
): PlanResult | undefined {
	const { round } = view;
	const { roles } = round.cause;
	if (roles === undefined || round.planId === null) return undefined;
	const broken = currentPlaces(view).filter(
		(place) =>
			!isRestarting(round, place.role) && !mayRunOn(view, place, isOver),
	);
	if (broken.length === 0) return undefined;
	// One node of each role: the reason is a line in every log.
	const more = new Map<string, Place>();
	for (const place of broken) {
		if (!more.has(place.role)) more.set(place.role, place);
	}
	const said = [...more].map(([role, place]) => {
		const why = whyGone(view, place) ?? whyFenced(view, place);
		return `role ${role}: ${why ?? `${place.nodeId} does not run on`}`;
	});
	const reason = [round.cause.reason, ...said].join("; ");
	const scope = restarting(view, [...more.keys()]);
	const cause = { ...round.cause, reason, ...scope };
	// Nodes that run on have to end their workers now.
	const kept = { ...memory, settle: null };
	return update({ ...round, cause }, kept, said.join("; "));
}

/** It runs on, has finished, or has not answered yet. */
function mayRunOn(view: RunView, place: Place, isOver: boolean): boolean {
	if (view.finished.has(place.nodeId)) return true;
	const record = holderOf(view, place)?.record;
	if (record === undefined) return false;
	const { state, claim, runsOn = false, fencedIn } = record;
	if (fencedIn === view.round.synced) return false;
	if (state === "ready" && claim > view.round.synced) return runsOn;
	return (
		!isOver &&
		(state === "ready" || state === "running" || state === "finished")
	);
}

/**
 * Whether the run's driver roles have all finished, in words; undefined if they have not, or there are none. A role whose
 * nodes have not come yet has not finished.
 */
export function driversDone(
	view: RunView,
	{ driverRoles }: Pick<PlannerConfig, "driverRoles">,
): string | undefined {
	if (driverRoles === undefined || view.round.planId === null) return undefined;
	const hasFinished = (nodeId: string) =>
		view.finished.has(nodeId) || view.done.has(nodeId);
	const places = currentPlaces(view);
	const isDone = (role: string) => {
		const own = places.filter((place) => place.role === role);
		const others = [...view.nodes.values()].filter(
			({ record }) => record.role === role && view.done.has(record.nodeId),
		);
		return (
			own.every(({ nodeId }) => hasFinished(nodeId)) &&
			own.length + others.length > 0
		);
	};
	return driverRoles.split(",").every(isDone)
		? `all workers of the driver role ${driverRoles} succeeded`
		: undefined;
}
