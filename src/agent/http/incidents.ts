import type { RoundLine } from "../../rendezvous/describe-history.js";
import type { RoundCause } from "../../rendezvous/records.js";
import type { RunStatus } from "../../rendezvous/run-status.js";

/** So many of the nodes that came or went together are named. */
const MOST_NAMES = 8;

/** What ended a round. */
export interface TimelineIncident {
	readonly kind: Exclude<RoundCause["kind"], "start">;
	/** Milliseconds since 1970: of a failure, by the clock of its node. */
	readonly at: number;
	/** The round that it ended. */
	readonly round: number;
	/** In words: "rank 2 on node-a: exit code 1". */
	readonly reason: string;
	/** Where it happened: the failing worker's node, or those that came or went. */
	readonly nodes: readonly string[];
	/** The failing worker; null where none failed. */
	readonly rank: number | null;
	readonly pid: number | null;
	/** What the exit probably means, and what the worker said of it. */
	readonly hint: string | null;
	readonly message: string | null;
}

/** What ended each round of one start of a run, the oldest first. */
export function incidentsOf(
	rounds: readonly RoundLine[],
	{ lastIncident, outcome }: RunStatus,
): readonly TimelineIncident[] {
	const told = rounds.flatMap((line, index) => {
		const { cause, joined, left, begunAt, liftedAt } = line;
		const { kind, reason, root } = cause;
		if (kind === "start") return [];
		const round = rounds[index - 1]?.round ?? line.round - 1;
		const at = begunAt ?? liftedAt;
		if (root !== null) return [failure(kind, reason, root, at, round)];
		const nodes = kind === "scale-up" ? joined : left;
		return [incident(kind, at, round, reason, nodes)];
	});
	// Before the next round is lifted, and where none is any more, the history has no line of it.
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

/** A clock that runs ahead does not move a failure to after it was noticed. */
function failure(
	kind: TimelineIncident["kind"],
	reason: string,
	root: NonNullable<RoundCause["root"]>,
	noticedAt: number,
	round: number,
): TimelineIncident {
	const at = Math.min(root.timestamp, noticedAt);
	return {
		...incident(kind, at, round, reason, [root.nodeId]),
		rank: root.rank,
		pid: root.pid,
		hint: root.hint ?? null,
		message: root.message ?? null,
	};
}
