import { describe, expect, it } from "vitest";
import {
	EMPTY_MEMORY,
	type PlannerMemory,
} from "../../../src/rendezvous/planner/plan.js";
import { planRound } from "../../../src/rendezvous/planner/plan-round.js";
import { planWrites } from "../../../src/rendezvous/planner/plan-writes.js";
import type { HistoryRecord } from "../../../src/rendezvous/records/history-record.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import type { NodeRecord } from "../../../src/rendezvous/records/records.js";
import type { RunView } from "../../../src/rendezvous/records/run-view.js";
import { runSpec } from "../../helpers/run-settings.js";
import {
	failureRecord,
	historyRecord,
	nodeFailure,
	nodeRecord,
	roundRecord,
	runView,
	seatRecord,
} from "../../helpers/run-view.js";

const CONFIG = runSpec({ minNodes: 1, lastCallTimeoutMs: 0 });
const RUNNING = { synced: 1, deprecated: 0, planId: "plan-1", seats: 2 };
const OPEN = { ...RUNNING, deprecated: 1 };
const SEATS = {
	a: seatRecord("a", { groupRank: 0 }),
	b: seatRecord("b", { groupRank: 1, firstRank: 2 }),
};
const STORY = historyRecord({ round: 1, members: ["a", "b"] });
const run = (nodeId: string, change: Partial<NodeRecord> = {}) =>
	nodeRecord(nodeId, { state: "running", since: 50, ...change });
const ready = (nodeId: string, since: number) =>
	nodeRecord(nodeId, { claim: 2, since });

/** Looks at views one after the other, each at its wall time; resolves the last look's story and memory. */
function look(...views: readonly (readonly [wallTime: number, RunView])[]): {
	story: HistoryRecord | undefined;
	memory: PlannerMemory;
} {
	let memory = EMPTY_MEMORY;
	let story: HistoryRecord | undefined;
	for (const [wallTime, view] of views) {
		const time = { now: 0, wallTime };
		const result = planRound(view, memory, CONFIG, "plan-2", time);
		memory = result.memory;
		story =
			result.plan !== undefined && "story" in result.plan
				? result.plan.story
				: undefined;
	}
	return { story, memory };
}

describe("the line of a round that begins", () => {
	it("of an instance's first round tells when that began, and that all have joined", () => {
		const view = runView({ instance: 7 }, [nodeRecord("a"), nodeRecord("b")]);
		expect(look([1_000, view]).story).toEqual({
			...historyRecord({ instance: 7, round: 1, members: ["a", "b"] }),
			joined: ["a", "b"],
			worldSize: 4,
			begunAt: 7,
			readyAt: 1_000,
			liftedAt: 1_000,
		});
	});

	it("tells the phases of a recovery: left, stopped, ready, lifted", () => {
		const cause = {
			kind: "failure",
			changeEvent: "SCALE_DOWN",
			reason: "rank 0 on a: exit code 1",
			root: failureRecord("a"),
		} as const;
		const open = { ...OPEN, cause, incidents: 1 };
		const rest = { seats: SEATS, story: { ...STORY, endedAt: 900 } };
		const { story } = look(
			[950, runView(open, [ready("a", 940), run("b")], rest)],
			[980, runView(open, [ready("a", 940), ready("b", 970)], rest)],
		);
		expect(story).toMatchObject({
			round: 2,
			cause,
			incidents: 1,
			members: ["a", "b"],
			joined: [],
			left: [],
			begunAt: 900,
			stoppedAt: 970,
			readyAt: 980,
			liftedAt: 980,
			startedAt: null,
			endedAt: null,
		});
	});

	it("tells the wait for one that does not come from the time that all others were ready", () => {
		const rest = { seats: SEATS, story: { ...STORY, endedAt: 900 } };
		const late = runView(OPEN, [ready("a", 940), run("b")], rest);
		const { memory } = look([950, late]);
		const time = { now: 35_000, wallTime: 36_000 };
		const result = planRound(late, memory, CONFIG, "plan-2", time);
		expect(result.plan).toMatchObject({
			story: { readyAt: 950, liftedAt: 36_000, members: ["a"], left: ["b"] },
		});
	});
});

describe("the line of a round that ends", () => {
	const running = (...nodes: readonly NodeRecord[]) =>
		runView(RUNNING, nodes, { seats: SEATS, story: STORY });
	const failed = running(
		run("a", { state: "stopping", claim: 2, failure: nodeFailure("a") }),
		run("b"),
	);

	it("adds when all had started, when its end was seen and why", () => {
		const { story } = look(
			[100, running(run("a", { state: "ready" }), run("b"))],
			[130, running(run("a"), run("b"))],
			[200, running(run("a"), run("b"))],
			[900, failed],
		);
		expect(story).toEqual({
			...STORY,
			startedAt: 130,
			endedAt: 900,
			noticedAfterMs: 900,
			ending: "rank 0 on a: exit code 1",
		});
	});

	it.each<[string, number, readonly NodeRecord[], number]>([
		[
			"its last keepalive, where nobody else said anything",
			9_000,
			[run("b")],
			5_000,
		],
		[
			"the end of a worker, where that came first",
			9_000,
			[
				run("b", {
					...{ state: "stopping", claim: 2 },
					failure: nodeFailure("b", {
						failure: failureRecord("b", { timestamp: 3_500 }),
					}),
				}),
			],
			5_500,
		],
		[
			"the time at which a node that was cut off had paused its workers",
			9_000,
			[
				run("b", {
					...{ state: "ready", claim: 2, fencedIn: 1 },
					ranUntil: 3_000,
				}),
			],
			6_000,
		],
	])("counts a lost node from %s", (_, wallTime, nodes, noticedAfterMs) => {
		const { story } = look([wallTime, running(...nodes)]);
		expect(story).toMatchObject({ endedAt: wallTime, noticedAfterMs });
	});

	it.each<[string, Partial<NodeRecord>, number | null]>([
		["a node that stops", { state: "stopping", claim: 2, ranSince: 90 }, 90],
		[
			"a node that was cut off and is back",
			{ state: "ready", claim: 2, fencedIn: 1, ranSince: 90 },
			90,
		],
		[
			"nobody, of an earlier round",
			{ state: "ready", claim: 2, ranSince: 19 },
			null,
		],
	])("is told since when it ran, where another coordinated then, by %s", (_, left, startedAt) => {
		const lifted = { ...STORY, liftedAt: 20 };
		const view = runView(RUNNING, [run("a", left)], {
			...{ seats: SEATS, story: lifted },
		});
		const line = look([900, view]).story;
		expect(line).toMatchObject({ endedAt: 900, startedAt });
	});

	it("is not written again for what follows, nor where somebody has deleted it", () => {
		const cause = { ...roundRecord().cause, root: failureRecord("b") };
		const more = runView(
			{ ...OPEN, cause, incidents: 1, accounted: ["b/b-1/1"] },
			[run("a", { failure: nodeFailure("a") }), run("b")],
			{ seats: SEATS, story: { ...STORY, endedAt: 900 } },
		);
		expect(look([950, more]).story).toBeUndefined();
		const deleted = runView(RUNNING, [run("a")], { seats: SEATS });
		expect(look([950, deleted]).story).toBeUndefined();
	});
});

describe("the history", () => {
	it("keeps 200 lines, in the same transaction that adds one", () => {
		const keys = new RunKeys("r");
		const lift = (synced: number) => {
			const round = { ...OPEN, synced, deprecated: synced };
			const view = runView(round, [
				nodeRecord("a", { claim: synced + 1 }),
				nodeRecord("b", { claim: synced + 1 }),
			]);
			const time = { now: 0, wallTime: 1 };
			const { plan } = planRound(view, EMPTY_MEMORY, CONFIG, "p", time);
			if (plan === undefined) throw new Error("no plan");
			return planWrites(plan, keys, view).last.map((write) =>
				"put" in write ? `put ${write.put}` : `delete ${write.delete}`,
			);
		};
		expect(lift(199)).toEqual([
			"put /elastic-run/r/round",
			"put /elastic-run/r/history/0000000200",
		]);
		expect(lift(200)).toEqual([
			"put /elastic-run/r/round",
			"put /elastic-run/r/history/0000000201",
			"delete /elastic-run/r/history/0000000001",
		]);
	});
});
