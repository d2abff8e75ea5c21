import { describe, expect, it } from "vitest";
import { parseRestartDelay } from "../../../src/config/parse/restarts.js";
import { EMPTY_MEMORY } from "../../../src/rendezvous/planner/plan.js";
import { planRound } from "../../../src/rendezvous/planner/plan-round.js";
import {
	fruitlessAfter,
	progressOf,
	restartDelayMs,
} from "../../../src/rendezvous/planner/progress.js";
import type {
	NodeFailure,
	Reached,
} from "../../../src/rendezvous/records/records.js";
import { runSpec } from "../../helpers/run-settings.js";
import {
	failureRecord,
	nodeFailure,
	nodeRecord,
	roundRecord,
	runView,
	seatRecord,
} from "../../helpers/run-view.js";

const DELAYS = { restartDelayMs: 0, restartDelayMaxMs: 30_000 };
const CONFIG = { ...runSpec({ minNodes: 1, maxRestarts: 99 }), ...DELAYS };

describe("how long a restart waits", () => {
	const longest = (fruitless: number, delays = {}) =>
		Array.from({ length: 200 }, (_, id) =>
			restartDelayMs(fruitless, `failure-${id}`, { ...CONFIG, ...delays }),
		).reduce((most, ms) => Math.max(most, ms), 0);

	it.each([
		["0 at first", 1, {}, 0, 0],
		["a quarter of a second then", 2, {}, 125, 250],
		["twice as long each time", 4, {}, 500, 1_000],
		["30 s at most", 50, {}, 15_000, 30_000],
		["the least at least", 2, { restartDelayMs: 4_000 }, 3_900, 4_000],
		["nothing where it is off", 9, { restartDelayMaxMs: 0 }, 0, 0],
	])("is %s", (_, fruitless, delays, from, to) => {
		const most = longest(fruitless, delays);
		expect(most).toBeLessThanOrEqual(to);
		expect(most).toBeGreaterThanOrEqual(from);
	});

	it.each([
		["0:30s", { leastMs: 0, mostMs: 30_000 }],
		["2", { leastMs: 2_000, mostMs: 2_000 }],
		["0", { leastMs: 0, mostMs: 0 }],
	])("is set by %s", (text, value) => {
		expect(parseRestartDelay(text)).toEqual({ value });
	});

	it.each(["", "x", "5s:1s", "1:2:3", "1:"])("is not set by %j", (text) => {
		expect(parseRestartDelay(text)).toHaveProperty("problems");
	});
});

describe("a failure after three in vain", () => {
	const OWN = { fingerprint: "exit code 1" };

	it.each<[string, Partial<NodeFailure>, Reached | undefined, number]>([
		["in vain too", {}, undefined, 4],
		["after a step", {}, { round: 1, step: 3 }, 0],
		["after a step of another round", {}, { round: 0, step: 3 }, 4],
		[
			"without steps, after a long time",
			{ failure: failureRecord("b", { ...OWN, uptimeMs: 40_000 }) },
			undefined,
			0,
		],
		[
			"by somebody's signal",
			{ failure: failureRecord("b", { signal: "SIGKILL" }) },
			undefined,
			3,
		],
		["which is a wish", { isWish: true }, undefined, 3],
	])("%s", (_, change, reached, fruitless) => {
		const failure = failureRecord("b", OWN);
		const view = runView({ synced: 1, deprecated: 1, fruitless: 3 }, [
			nodeRecord("a", { reached }),
		]);
		const root = nodeFailure("b", { failure, ...change });
		expect(fruitlessAfter(view.round, root, progressOf(view), CONFIG)).toBe(
			fruitless,
		);
	});
});

it("D3 of a role that restarts alone is in vain though others make steps", () => {
	const scope = { ...roundRecord().cause, roles: ["reader"] };
	const view = runView(
		{ synced: 1, deprecated: 1, fruitless: 3, cause: scope },
		[
			nodeRecord("a", { role: "trainer", reached: { round: 1, step: 9 } }),
			nodeRecord("b", { role: "reader" }),
		],
	);
	const failure = failureRecord("b", {
		...{ role: "reader", fingerprint: "exit code 1" },
	});
	const root = nodeFailure("b", { failure });
	expect(fruitlessAfter(view.round, root, progressOf(view), CONFIG)).toBe(4);
});

describe("B3 a round that is left because a node's lease ran out", () => {
	const SEATS = { seats: { a: seatRecord("a"), b: seatRecord("b") } };
	const running = {
		...{ synced: 4, deprecated: 3, planId: "plan-1", seats: 2 },
	};
	const trial = { round: 4, at: 20_000 };
	const leave = (others: Parameters<typeof runView>[1], now = 9_000) => {
		const view = runView({ ...running, fruitless: 3 }, others, SEATS);
		const memory = { ...EMPTY_MEMORY, trial };
		return planRound(view, memory, CONFIG, "plan-5", { now, wallTime: now });
	};
	const rejoined = (reached?: Reached) => {
		const left = { ...running, deprecated: 4, fruitless: 8 };
		const cause = { ...roundRecord().cause, kind: "scale-down" as const };
		const nodes = ["a", "b"].map((id) =>
			nodeRecord(id, { claim: 5, ...(id === "a" && reached && { reached }) }),
		);
		const view = runView({ ...left, cause }, nodes, SEATS);
		return planRound(view, EMPTY_MEMORY, CONFIG, "plan-5", {
			...{ now: 9_000, wallTime: 9_000 },
		});
	};
	const a = nodeRecord("a", { claim: 4, state: "running" });
	const leaving = nodeRecord("b", { claim: 4, state: "leaving" });

	it.each([
		["at once is one more in vain", [a], 9_000, 4],
		["after the settle time is not", [a], 20_000, 0],
		["by a node that was asked to go says nothing", [a, leaving], 9_000, 3],
	])("%s", (_, nodes, now, fruitless) => {
		expect(leave(nodes, now).plan).toMatchObject({ round: { fruitless } });
	});

	it("is followed by a wait that grows as after failures", () => {
		expect(rejoined()).toMatchObject({
			plan: undefined,
			awaited: { kind: "delay" },
		});
		expect(rejoined().until).toBeGreaterThan(9_000 + 8_000);
	});

	it("is followed at once by the next one if steps were made in it", () => {
		expect(rejoined({ round: 4, step: 7 }).plan).toMatchObject({
			kind: "lift",
			round: { fruitless: undefined },
		});
	});
});

describe("while a restart is held back", () => {
	const unpaid = nodeFailure("b", {
		failure: failureRecord("b", { fingerprint: "exit code 1" }),
	});
	const view = runView(
		{
			...{ synced: 1, deprecated: 1, planId: "plan-1", seats: 1 },
			...{ incidents: 9, fruitless: 8, unpaid, accounted: ["b/b-1/1"] },
		},
		[nodeRecord("b", { claim: 2, failure: unpaid })],
		{ seats: { b: seatRecord("b") } },
	);
	const plan = (memory = EMPTY_MEMORY, now = 1_000) =>
		planRound(view, memory, CONFIG, "plan-2", { now, wallTime: now });

	it("the planner waits, from the time at which it saw the round left", () => {
		const first = plan();
		expect(first).toMatchObject({
			plan: undefined,
			awaited: { kind: "delay", here: { names: ["b"] } },
		});
		const until = first.until ?? 0;
		expect(until).toBeGreaterThan(16_000);
		expect(plan(first.memory, until - 1).until).toBe(until);
		expect(plan(first.memory, until).plan).toMatchObject({
			kind: "lift",
			round: { fruitless: 9 },
		});
	});
});
