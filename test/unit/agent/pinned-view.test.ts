import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import {
	type AgentState,
	INITIAL_STATE,
	type Running,
} from "../../../src/agent/machine/state.js";
import {
	PinnedView,
	standingLine,
	stepLine,
} from "../../../src/agent/presence/pinned-view.js";
import { timeOfDay } from "../../../src/base/local-time.js";
import { PinnedScreen } from "../../../src/logs/pinned-screen.js";
import type { WorkerProgress } from "../../../src/model/progress.js";
import { awaits } from "../../../src/rendezvous/records/awaited.js";
import type { RoundRecord } from "../../../src/rendezvous/records/records.js";
import {
	failureRecord,
	roundRecord,
	seatRecord,
} from "../../helpers/run-view.js";
import { screenAfter } from "../../helpers/terminal.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const WORLD = {
	...{ worldSize: 4, groupWorldSize: 2, roleWorldSizes: { default: 4 } },
	...{ masterAddr: "a", masterPort: 1 },
};
const seen = (round: Partial<RoundRecord>) => ({
	round: roundRecord({ synced: 1, world: WORLD, ...round }),
	seat: null,
});
const FAILED = {
	...({ kind: "failure", changeEvent: "SCALE_DOWN" } as const),
	reason: "rank 1 on b: exit code\u001b[2J 5",
	root: failureRecord("b", { timestamp: 5_000 }),
};
const LEFT = { workers: [], seat: null, round: 1, claim: 2 };
const running: Running = {
	...INITIAL_STATE,
	...{ phase: "RUNNING", instance: 1, failure: null, failuresReported: 0 },
	...{ view: seen({}), round: 1, seat: seatRecord("a"), workers: [] },
};
const open = seen({ deprecated: 1, cause: FAILED });
const joining: AgentState = { ...INITIAL_STATE, ...LEFT, view: open };

it.each<[string | undefined, AgentState]>([
	[undefined, INITIAL_STATE],
	["round 1 runs: ranks 0-1 of 4, on 2 nodes", running],
	[
		"round 1 runs: rank 3 of 4, on 2 nodes",
		{ ...running, seat: seatRecord("a", { firstRank: 3, localWorldSize: 1 }) },
	],
	[
		"ends its workers of round 1: SIGTERM",
		{
			...{ ...running, ...LEFT, phase: "STOPPING", view: open },
			leaving: { exitCode: 143, reason: "SIGTERM", leaveBy: null },
		},
	],
	["waits for round 2", joining],
	[
		"a spare: round 1 runs without this node",
		{ ...joining, round: 0, seat: null, view: seen({}) },
	],
	[
		"its workers have succeeded; round 1 runs elsewhere",
		{ ...running, phase: "FINISHED", planId: "p" },
	],
	[
		undefined,
		{
			...{ ...running, phase: "CLOSED" },
			ending: { outcome: "succeeded", exitCode: 0, reason: "", root: null },
		},
	],
])("a node stands: %s", (line, state) => {
	expect(standingLine(state)).toBe(line);
});

describe("what is kept in view", () => {
	it("changes only where something happens, and remembers the last incident", async () => {
		const clock = new VirtualClock();
		const shown: (readonly string[])[] = [];
		const show = (lines: readonly string[]) => void shown.push(lines);
		const view = new PinnedView({ clock, show, runId: "r", nodeId: "a" });
		const at = timeOfDay(clock.wallTime());
		view.follow(INITIAL_STATE);
		expect(shown).toEqual([]);
		view.follow(joining);
		await clock.advance(60_000);
		view.follow(joining);
		const failed = `  last incident: rank 1 on b: exit code 5, round 1, ${timeOfDay(5_000)}`;
		expect(shown).toEqual([[`r on a: waits for round 2, since ${at}`, failed]]);
		const until = clock.wallTime() + 600_000;
		const waiting = {
			...({ version: 1, instance: 1, since: 0, until } as const),
			...awaits(
				"members",
				{ round: roundRecord({ synced: 1 }) },
				{ minNodes: 1, maxNodes: 2 },
				{ here: ["a"], missing: ["b"] },
			),
		};
		view.follow({ ...joining, view: { ...open, waiting } });
		expect(shown.at(-1)).toEqual([
			`r on a: waits for round 2, since ${at}`,
			`  waiting for b: a is here, until ${timeOfDay(until)}`,
			failed,
		]);
		view.follow({ ...running, view: seen({ synced: 2 }), round: 2 });
		expect(shown.at(-1)).toEqual([
			`r on a: round 2 runs: ranks 0-1 of 4, on 2 nodes, since ${timeOfDay(clock.wallTime())}`,
			failed,
		]);
		expect(clock.nextAlarm).toBeUndefined();
	});
});

describe("the line of the steps", () => {
	const worker = (step: number, secondsAgo: number): WorkerProgress => ({
		...{ localRank: 0, step, source: "hook", rate: 2.5 },
		stepAt: 1_000_000 - secondsAgo * 1_000,
	});
	const straggler = {
		...{ rank: 2, node: "b", lostSecondsPerStep: 0.031 },
		...{ lostSeconds: 12.4, since: 0 },
	};

	it.each<[string | undefined, Parameters<typeof stepLine>[0], boolean]>([
		[undefined, [], true],
		[
			"optimizer step 7 (2.5/s), 4 s ago",
			[worker(8, 3.7), worker(7, 4.2)],
			false,
		],
		["optimizer step 7 (2.5/s), 3 min 20 s ago", [worker(7, 200)], false],
		[
			"step 7, 0 s ago",
			[{ ...worker(7, -1), rate: null, source: "report" }],
			false,
		],
		[
			"optimizer step 7 (2.5/s), 0 s ago; each step waits for rank 2 on b: 31 ms, 12.4 s in all",
			[worker(7, 0)],
			true,
		],
	])("A4 is %j", (line, workers, hasStraggler) => {
		const found = hasStraggler ? straggler : undefined;
		expect(stepLine(workers, found, 1_000_000)).toBe(line);
	});

	it("A4 is in view while the round runs", () => {
		const clock = new VirtualClock();
		const shown: (readonly string[])[] = [];
		const show = (lines: readonly string[]) => void shown.push(lines);
		const view = new PinnedView({ clock, show, runId: "r", nodeId: "a" });
		view.followSteps([worker(7, 0)], undefined);
		expect(shown).toEqual([]);
		view.follow(running);
		view.followSteps([worker(7, 0)], undefined);
		expect(shown.at(-1)?.[1]).toMatch(
			/^ {2}optimizer step 7 \(2\.5\/s\), .* ago$/,
		);
		view.follow(joining);
		expect(shown.at(-1)?.[1]).toMatch(/last incident/);
	});
});

describe("a screen with lines that stay", () => {
	function openScreen(colour = false) {
		const clock = new VirtualClock();
		let text = "";
		const terminal = new Writable({
			write(chunk: Buffer, _, done) {
				text += chunk.toString();
				done();
			},
		});
		const screen = new PinnedScreen({ terminal, clock, colour });
		const out = screen.over(terminal);
		return {
			clock,
			screen,
			out,
			read: () => text,
			rows: () => screenAfter(text),
		};
	}

	it("has them below all else, and nothing of them when it is closed", async () => {
		const { clock, screen, out, rows } = openScreen();
		screen.show(["one", "two"]);
		out.write("first\n");
		await clock.advance(100);
		expect(rows()).toEqual(["first", "one", "two"]);
		out.write("second\nthird\n");
		expect(rows()).toEqual(["first", "second", "third"]);
		await clock.advance(100);
		expect(rows()).toEqual(["first", "second", "third", "one", "two"]);
		screen.show(["three"]);
		await clock.advance(100);
		expect(rows()).toEqual(["first", "second", "third", "three"]);
		screen.close();
		out.write("last\n");
		await clock.advance(100);
		expect(rows()).toEqual(["first", "second", "third", "last"]);
	});
});
