import type { NodeRecord } from "../../src/rendezvous/records.js";
import { type History, isWithin, type RoundCommit } from "./history.js";

/** The longest from a coordinator's look to what it writes, in milliseconds; longer where it was disturbed. */
const PLANNING_MS = 3_000;
const DISTURBED_PLANNING_MS = 40_000;

/** What a node's record said at the time at which the coordinator may have looked. */
export function recordsNear(
	nodeId: string,
	{ at, by }: RoundCommit,
	{ records, processes }: History,
): readonly (NodeRecord | null)[] {
	const writer = processes.find(({ incarnation }) => incarnation === by);
	const troubles = [...(writer?.disturbed ?? []), ...(writer?.frozen ?? [])];
	const isLate = isWithin(troubles, at - PLANNING_MS, at);
	const from = at - (isLate ? DISTURBED_PLANNING_MS : PLANNING_MS);
	const own = records.filter(
		(change) => change.nodeId === nodeId && change.at <= at,
	);
	const first = own.findLast((change) => change.at <= from);
	return [
		first?.record ?? null,
		...own.filter((change) => change.at > from).map(({ record }) => record),
	];
}
