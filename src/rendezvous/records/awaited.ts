import {
	type Candidates,
	findCandidates,
	missingFrom,
	newcomersOf,
	nobodyLeft,
} from "./candidates.js";
import { idsOf } from "./places.js";
import type { RunSpec } from "./run-spec.js";
import type { RunView } from "./run-view.js";
import type { Awaited, AwaitedKind, NodeList } from "./waiting-record.js";

type Sizes = Pick<RunSpec, "minNodes" | "maxNodes">;
type Settings = Sizes & Pick<RunSpec, "finishedStay">;

/** At most this many nodes are named; of the others only the number is given. */
const MOST_NAMES = 8;

export function awaits(
	kind: AwaitedKind,
	{ round }: Pick<RunView, "round">,
	{ minNodes, maxNodes }: Sizes,
	nodes: {
		readonly here: readonly string[];
		readonly missing?: readonly string[];
		readonly needed?: number;
	},
): Awaited {
	const { here, missing = [], needed = 0 } = nodes;
	return {
		round: round.synced + 1,
		kind,
		here: nodeList(here),
		missing: nodeList(missing),
		needed,
		minNodes,
		maxNodes,
	};
}

function nodeList(nodeIds: readonly string[]): NodeList {
	return { count: nodeIds.length, names: nodeIds.slice(0, MOST_NAMES) };
}

/**
 * What a coordinator would wait for that comes to the run now; undefined if nothing keeps a round from beginning. How
 * long it has waited is not in the records.
 */
export function awaitedNow(
	view: RunView,
	settings: Settings,
): Awaited | undefined {
	const { synced, deprecated, planId } = view.round;
	if (synced > deprecated) return awaitedInRound(view, settings);
	const candidates = findCandidates(view, settings);
	const missing = membersAwaited(candidates, nobodyLeft(candidates));
	const ready = idsOf([...candidates.members, ...candidates.newcomers]);
	if (planId !== null && missing.length > 0) {
		return awaits("members", view, settings, { here: ready, missing });
	}
	const taking = ready.length + candidates.finished.length;
	if (ready.length === 0 || taking < settings.minNodes) {
		return awaitedMinimum(view, settings, candidates);
	}
	return planId === null && ready.length < settings.maxNodes
		? awaits("last-call", view, settings, { here: ready })
		: undefined;
}

/** Members that are expected back. @param isOutage whether they all vanished at once */
export function membersAwaited(
	{ late, returning, vanished }: Candidates,
	isOutage: boolean,
): readonly string[] {
	return [...late, ...returning, ...(isOutage ? vanished : [])];
}

/** Undefined if all nodes leave: they wait for no other. */
export function awaitedMinimum(
	view: RunView,
	settings: Settings,
	{ members, newcomers, finished }: Candidates,
): Awaited | undefined {
	const nodes = [...view.nodes.values()];
	if (nodes.every(({ record }) => record.state === "leaving")) return undefined;
	const ready = idsOf([...members, ...newcomers]);
	const here = [...ready, ...finished];
	const fewest = ready.length === 0 ? 1 : 0;
	const needed = Math.max(settings.minNodes - here.length, fewest);
	const missing = missingFrom(view, here);
	return awaits("minimum", view, settings, { here, missing, needed });
}

/** What nodes without a seat wait for while a round runs; undefined if there are none, or no room for them. */
export function awaitedInRound(
	view: RunView,
	settings: Settings,
): Awaited | undefined {
	const here = idsOf(newcomersOf(view));
	if (here.length === 0 || view.round.seats >= settings.maxNodes) {
		return undefined;
	}
	const kind = isClosed(view, settings) ? "end" : "newcomers";
	return awaits(kind, view, settings, { here });
}

/** Whether a running round admits no node, because one of its nodes has finished. */
export function isClosed(
	{ finished, done }: RunView,
	{ finishedStay }: Pick<RunSpec, "finishedStay">,
): boolean {
	// A node that finished an earlier round takes part again, unless finished nodes stay so.
	return finished.size + (finishedStay ? done.size : 0) > 0;
}
