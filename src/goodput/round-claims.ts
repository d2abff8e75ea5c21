import type { HistoryRecord } from "../rendezvous/records/history-record.js";
import { isInOrder } from "../rendezvous/records/history-record.js";
import type { Claim } from "./divide-time.js";

type Line = Omit<HistoryRecord, "version">;

const NEVER = Number.POSITIVE_INFINITY;

/** What the history tells of a node's time while its workers do not run, strongest first: see node-ledger.ts. */
export function claimsOfRounds(
	nodeId: string,
	lines: readonly Line[],
): readonly Claim[] {
	const present = lines.map((line): Claim => {
		const isMember = line.members.includes(nodeId);
		return {
			category: isMember ? "startup" : "idle",
			from: line.liftedAt,
			to: (isMember ? line.startedAt : null) ?? line.endedAt ?? NEVER,
		};
	});
	return [...present, ...lines.flatMap(waysInto), ...formation(lines)];
}

/** The way into a round, which all nodes go together. */
function waysInto(line: Line): readonly Claim[] {
	const { readyAt, liftedAt, stoppedAt } = line;
	const begunAt = line.begunAt ?? readyAt;
	const until = isInOrder(stoppedAt, readyAt)
		? (stoppedAt ?? begunAt)
		: begunAt;
	return [
		{ category: "agreeing", from: readyAt, to: liftedAt },
		{ category: "stopping", from: begunAt, to: until },
		{ category: "waiting-for-nodes", from: until, to: readyAt },
	];
}

/** Before the first round, and after the last one if no line tells of the next. */
function formation(lines: readonly Line[]): readonly Claim[] {
	const first = lines[0]?.readyAt ?? NEVER;
	const before: Claim = { category: "waiting-for-nodes", from: 0, to: first };
	const last = lines.at(-1);
	if (last?.endedAt == null || last.outcome !== null) return [before];
	return [
		before,
		{ category: "waiting-for-nodes", from: last.endedAt, to: NEVER },
	];
}
