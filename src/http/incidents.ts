import type { RoundLine } from "../rendezvous/describe/describe-history.js";
import { firstSignOf } from "../rendezvous/describe/measure-history.js";
import type { RunStatus } from "../rendezvous/describe/run-status.js";
import type { RoundCause } from "../rendezvous/records/records.js";

/** At most this many nodes that came or went together are named. */
const MOST_NAMES = 8;

/** The end of a round. */
export interface TimelineIncident {
	readonly kind: Exclude<RoundCause["kind"], "start">;
	/** When its first sign was, in milliseconds since 1970; for a failure by the clock of its node. */
	readonly at: number;
	/** The round that it ended. */
	readonly round: number;
	/** In words: "rank 2 on node-a: exit code 1". */
	readonly reason: string;
	/** The failing worker's node, or the nodes that came or went. */
	readonly nodes: readonly string[];
	/** The failing worker's rank; null if none failed. */
	readonly rank: number | null;
	readonly pid: number | null;
	/** The likely meaning of the exit, and the worker's own message. */
	readonly hint: string | null;
	readonly message: string | null;
}

/** The end of each round of one start of a run, oldest first. */
export function incidentsOf(
	rounds: readonly RoundLine[],
	{ lastIncident, outcome }: RunStatus,
): readonly TimelineIncident[] {
	const told = rounds.flatMap((line, index) => {
		const { cause, joined, left, begunAt, liftedAt } = line;
		const { kind, reason, root } = cause;
		if (kind === "start") return [];
		const round = rounds[index - 1]?.round ?? line.round - 1;
		const at = firstSignOf(line, rounds[index - 1]) ?? begunAt ?? liftedAt;
		if (root !== null) return [failure(kind, reason, root, at, round)];
		const nodes = kind === "scale-up" ? joined : left;
		return [incident(kind, at, round, reason, nodes)];
	});
	// The history gets this line only when the next round is lifted, or never.
	const open = [
		lastIncident === null
			? null
			: { ...lastIncident, at: lastIncident.at ?? lastIncident.root.timestamp },
		outcome?.root
			? {
					...{ root: outcome.root, reason: outcome.reason },
					...{ round: outcome.root.round, at: outcome.root.timestamp },
				}
			: null,
	];
	const known = new Set(rounds.map(({ cause }) => cause.root?.id));
	for (const each of open) {
		if (each === null || known.has(each.root.id)) continue;
		known.add(each.root.id);
		told.push(failure("failure", each.reason, each.root, each.at, each.round));
	}
	return told.sort((left, right) => left.at - right.at);
}

function incident(
	kind: TimelineIncident["kind"],
	at: number,
	round: number,
	reason: string,
	nodes: readonly string[],
): TimelineIncident {
	return {
		...{ kind, at, round, reason, nodes: nodes.slice(0, MOST_NAMES) },
		...{ rank: null, pid: null, hint: null, message: null },
	};
}

/** A failure never comes after it was noticed, even if its clock runs ahead. */
function failure(
	kind: TimelineIncident["kind"],
	reason: string,
	root: NonNullable<RoundCause["root"]>,
	noticedAt: number,
	round: number,
): TimelineIncident {
	const at = Math.min(root.timestamp, noticedAt);
	return {
		...incident(
			kind,
			at,
			round,
			reason,
			root.isUnattributed ? [] : [root.nodeId],
		),
		rank: root.rank,
		pid: root.pid,
		hint: root.hint ?? null,
		message: root.message ?? null,
	};
}
