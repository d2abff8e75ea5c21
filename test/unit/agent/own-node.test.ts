import { describe, expect, it, test } from "vitest";
import {
	type AgentState,
	INITIAL_STATE,
	type Running,
	type Stopping,
} from "../../../src/agent/machine/state.js";
import type { WorkerSlot } from "../../../src/agent/machine/worker.js";
import { OwnNode } from "../../../src/agent/presence/own-node.js";
import { awaits } from "../../../src/rendezvous/records/awaited.js";
import type { RoundRecord } from "../../../src/rendezvous/records/records.js";
import {
	failureRecord,
	roundRecord,
	seatRecord,
} from "../../helpers/run-view.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";
import { workerSlot as slot } from "../../helpers/worker-slots.js";

const WORLD = {
	...{ worldSize: 4, groupWorldSize: 2, roleWorldSizes: { default: 4 } },
	...{ masterAddr: "a", masterPort: 1 },
};
const seen = (round: Partial<RoundRecord> = {}) => ({
	round: roundRecord({ synced: 1, world: WORLD, ...round }),
	seat: null,
});
const COMMON = {
	...INITIAL_STATE,
	instance: 1,
	failure: null,
	failuresReported: 0,
};
const seat = seatRecord("a", { firstRank: 2 });
const running = (...workers: WorkerSlot[]): Running => ({
	...{ ...COMMON, phase: "RUNNING", view: seen(), round: 1, seat, workers },
});
const failed = seen({
	deprecated: 1,
	cause: {
		...({ kind: "failure", changeEvent: "SCALE_DOWN" } as const),
		...{ reason: "rank 3 on a: exit code 1", root: failureRecord("a") },
	},
});
const stopping = (...workers: WorkerSlot[]): Stopping => ({
	...{ ...COMMON, phase: "STOPPING", view: failed, round: 1, claim: 2 },
	...{ seat, workers },
});
const joining: AgentState = {
	...{ ...INITIAL_STATE, view: failed, round: 1, claim: 2 },
};
const finished: AgentState = {
	...{ ...COMMON, phase: "FINISHED", view: seen(), round: 1, planId: "p" },
};
const closed: AgentState = {
	...{ ...COMMON, phase: "CLOSED", view: seen() },
	ending: { outcome: "left", exitCode: 143, reason: "SIGTERM", root: null },
};

/** What is known after one state after the other, a second apart, from 1 s on. */
function seenAfter(...states: readonly AgentState[]) {
	const clock = new VirtualClock(0);
	const node = new OwnNode(clock);
	for (const state of states) {
		clock.standStill(1_000);
		node.follow(state);
	}
	return node.now();
}

describe("a worker's state", () => {
	it.each<[string, WorkerSlot]>([
		["starting", slot(0, { pid: null })],
		["running", slot(0)],
		["pausing", slot(0, { status: "pausing" })],
		["paused", slot(0, { status: "paused" })],
		["stopping", slot(0, { killAt: 5 })],
		["stopping", slot(0, { status: "exited" })],
		["ended", slot(0, { status: "gone" })],
		["ended", slot(0, { status: "gone", pid: null })],
	])("%s", (state, worker) => {
		const { workers } = seenAfter(running(worker));
		expect(workers).toEqual([
			{ localRank: 0, rank: 2, pid: worker.pid, state, since: 1_000 },
		]);
	});

	it("has a time that stays while it does, and begins again with another process", () => {
		const other = slot(0, { pid: 200 });
		expect(seenAfter(running(slot(0)), running(slot(0))).workers).toMatchObject(
			[{ since: 1_000, pid: 100 }],
		);
		expect(seenAfter(running(slot(0)), running(other)).workers).toMatchObject([
			{ since: 2_000, pid: 200 },
		]);
	});

	it("stays when the workers are over, until others come", () => {
		const states = [running(slot(0), slot(1)), finished, closed];
		expect(seenAfter(...states).workers).toMatchObject([
			{ rank: 2, pid: 100, state: "ended", since: 2_000 },
			{ rank: 3, pid: 101, state: "ended", since: 2_000 },
		]);
	});
});

test("an event is what changes a phase, a round or a worker, and nothing else", () => {
	const first = running(slot(0));
	const acknowledged = running(slot(0, { attached: true, heard: 1 }));
	expect(seenAfter(first, acknowledged, first)).toMatchObject({
		...{ eventAt: 1_000, since: 1_000 },
	});
	const ending = running(slot(0, { killAt: 9 }));
	expect(seenAfter(first, ending)).toMatchObject({
		eventAt: 2_000,
		since: 1_000,
	});
	const left = { ...first, view: failed };
	expect(seenAfter(first, left)).toMatchObject({
		eventAt: 2_000,
		since: 1_000,
	});
	expect(seenAfter(first, stopping(slot(0)))).toMatchObject({
		...{ eventAt: 2_000, since: 2_000 },
	});
});

describe("readiness", () => {
	it.each<[boolean, RegExp, AgentState]>([
		[false, /^waits to join its run$/, INITIAL_STATE],
		[
			true,
			/^round 1 runs: ranks 2-3 of 4, on 2 nodes$/,
			running(slot(0), slot(1)),
		],
		[false, /; rank 3 is starting$/, running(slot(0), slot(1, { pid: null }))],
		[
			false,
			/; rank 2 is ended, and 1 more$/,
			running(slot(0, { status: "gone" }), slot(1, { killAt: 1 })),
		],
		[
			false,
			/^ends its workers of round 1: rank 3 on a: exit code 1$/,
			stopping(slot(0)),
		],
		[false, /^waiting for round 2 for 1 s$/, joining],
		[false, /^its workers have succeeded; round 1 runs elsewhere$/, finished],
		[false, /^it has ended: SIGTERM$/, closed],
	])("%s, %s", (isReady, reason, state) => {
		const { readiness } = seenAfter(state);
		expect(readiness).toEqual({
			isReady,
			reason: expect.stringMatching(reason),
		});
	});

	it("says in the coordinator's words what is waited for", () => {
		const round = roundRecord();
		const waiting = {
			...({ version: 1, instance: 1, since: 0, until: 31_000 } as const),
			...awaits(
				"minimum",
				{ round },
				{ minNodes: 3, maxNodes: 4 },
				{ here: ["a"], needed: 2 },
			),
		};
		const state: AgentState = {
			...{ ...INITIAL_STATE, claim: 1, view: { round, seat: null, waiting } },
		};
		const words = "waiting for 2 more nodes (at least 3): a is here; 30 s left";
		expect(seenAfter(state)).toMatchObject({
			...{ phase: "JOINING", since: 0, waitsFor: words },
			readiness: { reason: words },
		});
	});
});

it("brings no control sequences along", () => {
	const state: AgentState = {
		...stopping(slot(0)),
		view: seen({
			...{ deprecated: 1 },
			cause: {
				...({ kind: "failure", changeEvent: "SCALE_DOWN" } as const),
				...{ reason: "rank 1: \u001b[2Jcleared", root: failureRecord("b") },
			},
		}),
	};
	expect(seenAfter(state).readiness.reason).toMatch(/rank 1: cleared$/);
});
