import { describe, expect, it } from "vitest";
import { EMPTY_MEMORY } from "../../../src/rendezvous/planner/plan.js";
import {
	type Planner,
	planRiders,
} from "../../../src/rendezvous/planner/riders.js";
import type { RunView } from "../../../src/rendezvous/records/run-view.js";
import { runSpec } from "../../helpers/run-settings.js";
import { nodeRecord, runView, seatRecord } from "../../helpers/run-view.js";

const TTL_MS = 5_000;
/** So long after a member has ended nobody rides any more. */
const ENDED_MS = 3.5 * TTL_MS;
const RIDE_OUT_MS = 600_000;
const NOW = 1_000;
const MEMBER: Planner = { incarnation: "a-1", knownFrom: undefined };
const STRANGER: Planner = { incarnation: "s-1", knownFrom: undefined };
const HEAD = { nodeId: "a", incarnation: "a-1" };

/** Nodes a and b are the members of round 1; these nodes have records. */
function viewOf(
	present: readonly string[],
	change: Partial<RunView> = {},
	members: readonly string[] = ["a", "b"],
): RunView {
	const records = present.map((incarnation) => {
		const [nodeId = ""] = incarnation.split("-");
		return nodeRecord(nodeId, { incarnation });
	});
	const seats = members.map((nodeId, groupRank) => [
		nodeId,
		seatRecord(nodeId, { groupRank }),
	]);
	const round = {
		...{ synced: 1, planId: "plan-1", head: HEAD },
		seats: members.length,
	};
	const view = runView(round, [...records, nodeRecord("s")], {
		seats: Object.fromEntries(seats),
	});
	return { ...view, ...change };
}

const plan = (
	view: RunView,
	planner = STRANGER,
	{
		memory = EMPTY_MEMORY,
		now = NOW,
		rideOutMs = RIDE_OUT_MS,
		maxNodes = 4,
	} = {},
) => planRiders(view, memory, runSpec({ rideOutMs, maxNodes }), now, planner);

describe("no riders keep from planning", () => {
	const alone = viewOf([], {}, ["a"]);
	const { head: _, ...headless } = viewOf([]).round;
	it.each<[string, RunView, Planner?, Parameters<typeof plan>[2]?]>([
		["a member", viewOf([]), MEMBER],
		["whom the head knows", viewOf([]), { ...STRANGER, knownFrom: NOW }],
		["where only one was a member of more that may come", alone],
		[
			"where the only one has died",
			{ ...alone, left: new Map([["a", "a-1"]]) },
			STRANGER,
			{ maxNodes: 1 },
		],
		["where a round has no head", viewOf([], { round: headless })],
		["where rounds do not ride", viewOf(["a-1"]), STRANGER, { rideOutMs: 0 }],
		[
			"where all members have ended",
			viewOf([], {
				left: new Map([
					["a", "a-1"],
					["b", "b-1"],
				]),
			}),
		],
	])("%s", (_, view, planner, more) => {
		expect(plan(view, planner, more)).toBeUndefined();
	});
});

describe("a stranger hands over", () => {
	it.each([
		["to a member that is there", ["b-1"]],
		[
			"also where all are there: they may lose the store now, and ride",
			["a-1", "b-1"],
		],
	])("%s", (_, present) => {
		expect(plan(viewOf(present))).toMatchObject({
			...{ plan: undefined, handsOver: true },
		});
	});

	it("to nobody who leaves", () => {
		const left = new Map([["b", "b-1"]]);
		const until = NOW + ENDED_MS;
		expect(plan(viewOf(["b-1"], { left }))?.until).toBe(until);
		left.set("a", "a-1");
		expect(plan(viewOf(["a-1", "b-1"], { left }))).toBeUndefined();
	});
});

describe("a stranger waits", () => {
	it.each<[string, RunView, number]>([
		["as long as a round rides where all are missing", viewOf([]), RIDE_OUT_MS],
		[
			"three and a half leases after one has left",
			viewOf([], { left: new Map([["b", "b-1"]]) }),
			ENDED_MS,
		],
		[
			"as long where an earlier process of one has left",
			viewOf([], { left: new Map([["b", "b-0"]]) }),
			RIDE_OUT_MS,
		],
		[
			"as long where a process that knows of none has the node of one",
			viewOf(["b-2"]),
			RIDE_OUT_MS,
		],
		[
			"as long after one has finished: it may live, and confirm the round",
			viewOf([], { finished: new Set(["b"]) }),
			RIDE_OUT_MS,
		],
		[
			"three and a half leases after one has ended to be started again",
			viewOf([], { recreated: new Map([["b", "b-1"]]) }),
			ENDED_MS,
		],
	])("%s", (_, view, lastMs) => {
		const until = NOW + lastMs;
		const first = plan(view);
		expect(first).toMatchObject({ plan: undefined, until });
		const { memory = EMPTY_MEMORY } = first ?? {};
		expect(plan(view, STRANGER, { memory, now: until - 1 })?.until).toBe(until);
		expect(plan(view, STRANGER, { memory, now: until })).toBeUndefined();
	});

	it("three and a half leases after another process has the place of one", () => {
		const succeeds = nodeRecord("b", {
			...{ incarnation: "b-2", succeeds: "b-1" },
		});
		const view = viewOf([]);
		const nodes = runView({}, [succeeds]).nodes;
		expect(plan({ ...view, nodes })?.until).toBe(NOW + ENDED_MS);
	});

	it("as long as a round rides where no other node has a part in the run", () => {
		const alone = viewOf([], {}, ["a"]);
		const until = NOW + RIDE_OUT_MS;
		expect(plan(alone, STRANGER, { maxNodes: 1 })?.until).toBe(until);
	});

	it("three and a half leases after it sees that one has died meanwhile", () => {
		const { memory = EMPTY_MEMORY } = plan(viewOf([])) ?? {};
		const later = NOW + RIDE_OUT_MS / 2;
		const left = new Map([["b", "b-1"]]);
		const found = plan(viewOf([], { left }), STRANGER, { memory, now: later });
		expect(found?.until).toBe(later + ENDED_MS);
		const { memory: then = EMPTY_MEMORY, until = 0 } = found ?? {};
		const more = { memory: then, now: later + 1_000 };
		expect(plan(viewOf([], { left }), STRANGER, more)?.until).toBe(until);
	});

	it("no longer than until the head knows it", () => {
		const knownFrom = NOW + TTL_MS;
		expect(plan(viewOf([]), { ...STRANGER, knownFrom })?.until).toBe(knownFrom);
	});

	it("and says for whom", () => {
		const left = new Map([["a", "a-1"]]);
		expect(plan(viewOf([], { left }))).toMatchObject({
			reason: "b may work on together without the store",
			awaited: { missing: { names: ["b"] } },
		});
	});
});
