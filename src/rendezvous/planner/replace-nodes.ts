import type { ReplacedRecord } from "../records/departure-records.js";
import { currentPlaces, isRefused } from "../records/places.js";
import {
	type BudgetRecord,
	RECORD_VERSION,
	type Seat,
} from "../records/records.js";
import type { NodeView, RunView } from "../records/run-view.js";
import { whyBarred } from "./payment.js";
import type { PlannerConfig, RunTime } from "./plan.js";

type Replacements = ReadonlyMap<string, ReplacedRecord>;

/** Nodes that may not take part any more. */
interface Refusals {
	/** Their seats, which say so. */
	readonly seats: ReadonlyMap<string, Seat>;
	/** Those among them that must be replaced from now on. */
	readonly replaced: Replacements;
}

/** Finds the nodes that have not heard yet that their budget is spent, or that they are replaced. */
export function findRefusals(
	view: RunView,
	config: PlannerConfig,
	{ runTime, wallTime }: Pick<RunTime, "runTime" | "wallTime">,
): Refusals {
	const seats = new Map<string, Seat>();
	const replaced = new Map<string, ReplacedRecord>();
	for (const [nodeId, node] of view.nodes) {
		if (isRefused(view, node)) continue;
		const known = view.replaced?.get(nodeId);
		const spent = spentWords(nodeId, view.budgets.get(nodeId), config, runTime);
		// The node that asked to be replaced goes by itself.
		if (known && node.record.state === "leaving") continue;
		const refused = spent ?? (known && replacedWords(known));
		if (refused === undefined) continue;
		const { incarnation } = node.record;
		seats.set(nodeId, { version: RECORD_VERSION, incarnation, refused });
		if (known === undefined) {
			replaced.set(nodeId, replacedRecord(node, refused, wallTime));
		}
	}
	return { seats, replaced };
}

function spentWords(
	nodeId: string,
	budget: BudgetRecord | undefined,
	config: PlannerConfig,
	runTime: number,
): string | undefined {
	const why = budget && whyBarred(nodeId, budget, config, runTime);
	return why && `${why}; a node of another --node-id may take its place`;
}

function replacedWords({ nodeId, reason }: ReplacedRecord): string {
	return `${nodeId} is replaced in this run: ${reason}; elastic-run readmit ${nodeId} lets it in again, or give it another --node-id`;
}

function replacedRecord(
	{ record }: Pick<NodeView, "record">,
	reason: string,
	at: number,
): ReplacedRecord {
	const { nodeId, incarnation, hostId, address, role } = record;
	const who = { nodeId, incarnation, hostId, address, role };
	return { version: RECORD_VERSION, ...who, reason, at };
}

/**
 * The nodes that newcomers of the next round replace, one each, those that wait longest first. Their budgets start again.
 */
export function replacedBy(
	view: RunView,
	chosen: readonly NodeView[],
): Replacements {
	if (view.round.planId === null) return new Map();
	const members = new Set(currentPlaces(view).map(({ nodeId }) => nodeId));
	const newcomers = chosen.filter(({ record }) => !members.has(record.nodeId));
	const pending = [...(view.replaced ?? [])]
		.filter(([, { replacement }]) => replacement === undefined)
		.sort(([, left], [, right]) => left.at - right.at);
	return new Map(
		pending
			.slice(0, newcomers.length)
			.map(([nodeId, record], index) => [
				nodeId,
				{ ...record, replacement: newcomers[index]?.record.nodeId },
			]),
	);
}

/**
 * The next replaced node for which this coordinator should care: nobody does, and its place is not taken yet. A node that
 * goes itself cares for none.
 */
export function toCareFor(
	{ nodes, replaced = new Map(), round }: RunView,
	coordinator: { readonly nodeId: string },
): ReplacedRecord | undefined {
	const own = nodes.get(coordinator.nodeId)?.record;
	const isGoing = own?.state === "leaving" || replaced.has(coordinator.nodeId);
	if (own === undefined || isGoing || round.outcome !== null) return undefined;
	const [next] = [...replaced.values()].filter(
		({ caredForBy, replacement }) =>
			caredForBy === undefined && replacement === undefined,
	);
	return next && { ...next, caredForBy: coordinator.nodeId };
}
