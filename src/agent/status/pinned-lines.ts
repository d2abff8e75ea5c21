import type { FailureRecord } from "../../rendezvous/failure.js";
import { waitingInWords } from "../../rendezvous/waiting-words.js";
import { plainMessage } from "../logs/plain-text.js";
import { timeOfDay } from "../report/local-time.js";
import { formatCount } from "../report/units.js";
import { type AgentState, isSpare } from "../state.js";

/** The newest failure that ended a round, with why it did. */
export interface SeenIncident {
	readonly reason: string;
	readonly root: FailureRecord;
}

/** The incident that a state shows; undefined: none, or none any more. */
export function incidentOf({ view }: AgentState): SeenIncident | undefined {
	const { root = null, reason = "" } = view?.round.cause ?? {};
	return root === null ? undefined : { reason, root };
}

/** Where this node stands in its run, in one line; undefined: there is nothing to tell. */
export function standingLine(state: AgentState): string | undefined {
	const { view } = state;
	if (view === null || state.phase === "CLOSED") return undefined;
	const { synced, cause, world } = view.round;
	switch (state.phase) {
		case "RUNNING": {
			const { firstRank, localWorldSize } = state.seat;
			const last = firstRank + localWorldSize - 1;
			const ranks =
				localWorldSize === 1 ? `rank ${last}` : `ranks ${firstRank}-${last}`;
			const nodes = formatCount(world?.groupWorldSize ?? 1, "node");
			return `round ${state.round} runs: ${ranks} of ${world?.worldSize ?? 1}, on ${nodes}`;
		}
		case "STOPPING": {
			const why =
				state.next.kind === "leave" ? state.next.reason : cause.reason;
			return `ends its workers of round ${state.round}: ${view.round.outcome?.reason ?? why}`;
		}
		case "FINISHED":
			return `its workers have succeeded; round ${state.round} runs elsewhere`;
		case "JOINING":
			return isSpare(state)
				? `a spare: round ${synced} runs without this node`
				: `waits for round ${state.claim}`;
		default:
			return state satisfies never;
	}
}

/**
 * What stays in view while an agent lives: where its node stands, what is
 * waited for, and the last incident. Times are of the day, so that a line only
 * changes where something happens.
 * @param since milliseconds since 1970, from when `standingLine` has been the same
 */
export function pinnedLines(
	name: { readonly runId: string; readonly nodeId: string },
	state: AgentState,
	incident: SeenIncident | undefined,
	since: number,
): readonly string[] {
	const standing = standingLine(state);
	const { view } = state;
	if (standing === undefined || view === null) return [];
	const { round, waiting } = view;
	const isAwaited =
		waiting?.instance === round.instance && waiting.round === round.synced + 1;
	return [
		`${name.runId} on ${name.nodeId}: ${standing}, since ${timeOfDay(since)}`,
		...(waiting && isAwaited
			? [
					`  ${waitingInWords({ ...waiting, until: null }, since)}${waiting.until === null ? "" : `, until ${timeOfDay(waiting.until)}`}`,
				]
			: []),
		...(incident
			? [
					`  last incident: ${incident.reason}, round ${incident.root.round}, ${timeOfDay(incident.root.timestamp)}`,
				]
			: []),
	].map(plainMessage);
}
