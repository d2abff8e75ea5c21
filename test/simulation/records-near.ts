import type { NodeRecord } from "../../src/rendezvous/records/records.js";
import { type History, isWithin, type RoundCommit } from "./history.js";

/** The longest from a coordinator's look to what it writes, in milliseconds; longer where it was disturbed. */
const PLANNING_MS = 3_000;
const DISTURBED_PLANNING_MS = 40_000;

/** Whether its writer was not disturbed when it looked and wrote. */
export function isPrompt(
	{ at, by }: RoundCommit,
	{ processes }: History,
): boolean {
	const writer = processes.find(({ incarnation }) => incarnation === by);
	const troubles = [...(writer?.disturbed ?? []), ...(writer?.frozen ?? [])];
	return !isWithin(troubles, at - PLANNING_MS, at);
}

/**
 * What a node's record said at the time at which the coordinator may have looked.
 * @param promptMs how long one that was not disturbed may have taken since
 */
export function recordsNear(
	nodeId: string,
	commit: RoundCommit,
	history: History,
	promptMs = PLANNING_MS,
): readonly (NodeRecord | null)[] {
	const { at } = commit;
	const isLate = !isPrompt(commit, history);
	const from = at - (isLate ? DISTURBED_PLANNING_MS : promptMs);
	const own = history.records.filter(
		(change) => change.nodeId === nodeId && change.at <= at,
	);
	const first = own.findLast((change) => change.at <= from);
	return [
		first?.record ?? null,
		...own.filter((change) => change.at > from).map(({ record }) => record),
	];
}
