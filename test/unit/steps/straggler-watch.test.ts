import { expect, it } from "vitest";
import {
	INITIAL_STATE,
	type Running,
} from "../../../src/agent/machine/state.js";
import type { ProgressRecord } from "../../../src/model/progress.js";
import type { Pace } from "../../../src/model/step.js";
import { StragglerWatch } from "../../../src/steps/stragglers.js";
import { seatRecord } from "../../helpers/run-view.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const NODES = ["a", "b"];

/** Two nodes of two ranks each; rank 3 takes so many seconds a step, the others 50 ms. */
function open(groupRank = 0) {
	const clock = new VirtualClock(10_000);
	const said: string[] = [];
	const say = (line: string) => void said.push(line);
	let slow = 0.05;
	let step = 100;
	let reads = 0;
	let answers = true;
	const pace = (usual: number): Pace => ({
		...{ by: "own-time", usual, least: usual - 0.005, most: usual + 0.005 },
	});
	const record = (nodeId: string, index: number): ProgressRecord => ({
		...{ version: 1, nodeId, instance: 1, round: 1, firstRank: 2 * index },
		workers: [0, 1].map((localRank) => ({
			...{ localRank, step, source: "hook", stepAt: 0, rate: 10 },
			pace: pace(2 * index + localRank === 3 ? slow : 0.05),
		})),
	});
	const watch = new StragglerWatch({
		...{ clock, log: { info: say, warn: say } },
		progress: {
			read: async () => {
				reads += 1;
				if (!answers) return undefined;
				return new Map(NODES.map((node, index) => [node, record(node, index)]));
			},
		},
	});
	const state = (round: number): Running => ({
		...INITIAL_STATE,
		...{ phase: "RUNNING", instance: 1, view: null, failure: null },
		...{ failuresReported: 0, round, workers: [] },
		seat: seatRecord("a", { groupRank }),
	});
	/** Looks once a second for so long. */
	const look = async (seconds: number, round = 1) => {
		for (let second = 0; second < seconds; second++) {
			watch.look(state(round));
			await clock.advance(1_000);
		}
		return watch.look(state(round));
	};
	const lostMs = (round = 1) => watch.lostMsIn({ instance: 1, round });
	return {
		...{ look, lostMs, said, reads: () => reads },
		slows: (seconds: number, at: number) => {
			slow = seconds;
			step = at;
		},
		falls: (silent: boolean) => {
			answers = !silent;
		},
	};
}

it("A10 says once which rank of all nodes is slow, and when it is over", async () => {
	const site = open();
	expect(await site.look(6)).toBeUndefined();
	site.slows(0.08, 100);
	expect(await site.look(6)).toMatchObject({ rank: 3, node: "b" });
	site.slows(0.08, 200);
	expect(await site.look(20)).toMatchObject({ lostSeconds: 3 });
	site.falls(true);
	expect(await site.look(10)).toMatchObject({ rank: 3 });
	site.falls(false);
	site.slows(0.05, 300);
	expect(await site.look(6)).toBeUndefined();
	// It came back by itself, so what it cost does not change.
	expect(site.lostMs()).toBeGreaterThanOrEqual(3_000);
	expect(site.lostMs(2)).toBe(0);
	expect(site.said).toEqual([
		"each step waits for rank 3 on b, for 30 ms; no action is taken",
		"the steps no longer wait for rank 3 on b; they have lost 3.0 s",
	]);
});

it("A10 reads the store every five seconds, and only on the first node", async () => {
	const first = open();
	await first.look(20);
	expect(first.reads()).toBe(5);
	const second = open(1);
	second.slows(0.08, 100);
	expect(await second.look(20)).toBeUndefined();
	expect(second.reads()).toBe(0);
});

it("A10 forgets it with its round", async () => {
	const site = open();
	site.slows(0.08, 100);
	await site.look(6);
	expect(await site.look(0, 2)).toBeUndefined();
});
