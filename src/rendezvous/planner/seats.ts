import type { LinkedAgent } from "../../model/index.js";
import type { FailureId } from "../records/failure.js";
import {
	currentPlaces,
	idsOf,
	isHeldBy,
	whereaboutsOf,
} from "../records/places.js";
import { garbled } from "../records/record-codec.js";
import {
	type BudgetRecord,
	RECORD_VERSION,
	type RoleTerms,
	type RoundRecord,
	type SeatRecord,
	type World,
} from "../records/records.js";
import type { NodeView, RunView } from "../records/run-view.js";
import type { PlannerMemory, PlanResult } from "./plan.js";
import { progressOf } from "./progress.js";
import { replacedBy } from "./replace-nodes.js";

/** So many agents call one speaker, itself among them; and so many can be speakers of a group, in turn. */
const GROUP_SIZE = 32;
const SPEAKERS = 2;

/**
 * Begins the next round with these members, in this order.
 * @param memory stays as it is: only the write shows whether the round begins
 * @param budgets changed budgets of nodes
 */
export function lift(
	view: RunView,
	chosen: NonEmpty<NodeView>,
	planId: string,
	memory: PlannerMemory,
	budgets: ReadonlyMap<string, BudgetRecord> = new Map(),
): PlanResult {
	const { round } = view;
	const synced = round.synced + 1;
	const { furthest, isFurther, hasSteps } = progressOf(view);
	const { seats, world } = assignSeats(view, chosen, planId, synced);
	return {
		plan: {
			kind: "lift",
			seats,
			budgets,
			replaced: replacedBy(view, chosen),
			round: {
				...round,
				furthest,
				...(hasSteps && { fruitless: undefined }),
				...(isFurther && { repeated: undefined }),
				synced,
				planId,
				seats: seats.size,
				accounted: stillStated(view),
				head: headOf(chosen),
				world,
				terms: termsOf(chosen),
			},
		},
		memory,
		until: undefined,
		reason: `round ${synced}: ${idsOf(chosen).join(", ")}`,
	};
}

function headOf([first]: NonEmpty<NodeView>): RoundRecord["head"] {
	const head = linkedAgent(first);
	return head.link && head;
}

function linkedAgent({ record }: NodeView): LinkedAgent {
	const { nodeId, incarnation, link } = record;
	return { nodeId, incarnation, link };
}

/**
 * By whom an agent of a large round and its head speak with each other: groups of agents follow one another in the order
 * of their ranks. The first of a group speaks for it, or else the second one; the head does for its own. Undefined: it is
 * of no group, or speaks for one.
 */
export function speakersOf(
	members: readonly LinkedAgent[],
	groupRank: number,
	groupSize = GROUP_SIZE,
): readonly LinkedAgent[] | undefined {
	const first = groupRank - (groupRank % groupSize);
	if (members.length <= groupSize || first === groupRank) return undefined;
	const last = Math.min(first + SPEAKERS, groupRank);
	return members.slice(first, last).filter(({ link }) => link);
}

/** The first node of each role speaks for it; undefined if no role asks for anything. */
function termsOf(chosen: NonEmpty<NodeView>): RoundRecord["terms"] {
	const firsts = new Map<string, RoleTerms | undefined>();
	for (const { record } of chosen) {
		if (!firsts.has(record.role)) firsts.set(record.role, record.terms);
	}
	const asked = [...firsts].flatMap(([role, terms]) =>
		terms === undefined ? [] : [[role, terms] as const],
	);
	return asked.length === 0 ? undefined : Object.fromEntries(asked);
}

/** Failures of the old round that were accounted for and may be seen once more in the new one. */
function stillStated({ round, nodes }: RunView): readonly FailureId[] {
	const { synced, accounted } = round;
	return [...nodes.values()].flatMap(({ record: { failure } }) =>
		failure?.failure.round === synced && accounted.includes(failure.failure.id)
			? [failure.failure.id]
			: [],
	);
}

export type NonEmpty<Item> = readonly [Item, ...Item[]];

/**
 * The round's record and the seats of its plan are written together; while the round runs, all seats stay.
 * @throws ElasticRunError RENDEZVOUS_FAILED if seats of a running round are missing
 */
export function refuseMissingSeats(view: RunView, roundKey: string): void {
	const { synced, deprecated, seats, outcome } = view.round;
	const { length } = currentPlaces(view);
	if (synced === deprecated || outcome !== null || length === seats) return;
	throw garbled(
		{ key: roundKey },
		`its seats is ${seats}, but round ${synced} runs with ${length} seats that are there`,
	);
}

/** Gives each member its group rank, its global ranks and its ranks within its role, in the given order. */
function assignSeats(
	view: RunView,
	members: NonEmpty<NodeView>,
	planId: string,
	round: number,
): { seats: ReadonlyMap<string, SeatRecord>; world: World } {
	const [master] = members;
	const places = new Map(
		currentPlaces(view).map((place) => [place.nodeId, place]),
	);
	const agents = members.map(linkedAgent);
	const seats = new Map<string, SeatRecord>();
	// A role may be called "constructor", a property of every plain object.
	const roleWorldSizes = new Map<string, number>();
	let worldSize = 0;
	for (const [groupRank, { record }] of members.entries()) {
		const firstRoleRank = roleWorldSizes.get(record.role) ?? 0;
		const { nodeId, incarnation, localWorldSize, role } = record;
		const place = places.get(nodeId);
		const previous =
			place !== undefined &&
			isHeldBy(place, record) &&
			view.round.planId !== null
				? { planId: view.round.planId, groupRank: place.groupRank }
				: null;
		seats.set(nodeId, {
			version: RECORD_VERSION,
			planId,
			round,
			incarnation,
			groupRank,
			firstRank: worldSize,
			firstRoleRank,
			localWorldSize,
			role,
			process: record.link && whereaboutsOf(record),
			speakers: record.link && speakersOf(agents, groupRank),
			previous,
		});
		worldSize += localWorldSize;
		roleWorldSizes.set(role, firstRoleRank + localWorldSize);
	}
	return {
		seats,
		world: {
			worldSize,
			groupWorldSize: members.length,
			roleWorldSizes: Object.fromEntries(roleWorldSizes),
			masterAddr: master.record.address,
			masterPort: master.record.masterPort,
		},
	};
}
