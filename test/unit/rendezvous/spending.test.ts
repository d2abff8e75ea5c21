import { describe, expect, it } from "vitest";
import { parseRestartLimit } from "../../../src/config/parse/restarts.js";
import {
	outcomeOf,
	pay,
	whyBarred,
} from "../../../src/rendezvous/planner/payment.js";
import type { PlannerConfig } from "../../../src/rendezvous/planner/plan.js";
import {
	comesBackAt,
	limitInWords,
	usedOf,
} from "../../../src/rendezvous/records/budgets.js";
import type {
	NodeFailure,
	RoleTerms,
} from "../../../src/rendezvous/records/records.js";
import { backWords, windowOf } from "../../../src/status/words.js";
import { runSpec } from "../../helpers/run-settings.js";
import { failureRecord, nodeFailure, runView } from "../../helpers/run-view.js";

const HOUR = 3_600_000;

describe("what a budget has paid", () => {
	const limit = { restarts: 2, windowMs: HOUR };

	it.each([
		["none", [], 0, 0, null],
		["those of the last hour", [1, HOUR, HOUR + 5], HOUR + 9, 2, 2 * HOUR],
		["none that is as old as the window", [0], HOUR, 0, null],
		["that of a clock ahead of this one", [5 * HOUR], HOUR, 1, 6 * HOUR],
	])("D2 counts with a window of an hour: %s", (_, at, now, used, back) => {
		const spent = { count: at.length, at };
		expect(usedOf(spent, limit, now)).toBe(used);
		expect(comesBackAt(spent, limit, now)).toBe(back);
	});

	it.each([
		["3", { restarts: 3, windowMs: 0 }, "3 restarts"],
		["3/6h", { restarts: 3, windowMs: 6 * HOUR }, "3 restarts in 6h"],
		["0/90", { restarts: 0, windowMs: 90_000 }, "0 restarts in 90s"],
	])("is limited by %s", (text, value, words) => {
		expect(parseRestartLimit(text)).toEqual({ value });
		expect(limitInWords(value)).toBe(words);
	});

	it.each([
		"",
		"x",
		"-1",
		"3/",
		"3/0",
		"3/6h/2",
		"3/6d",
	])("is not limited by %j", (text) => {
		expect(parseRestartLimit(text)).toHaveProperty("problems");
	});
});

describe("in words", () => {
	it.each([
		[{}, "", ""],
		[
			{ windowSeconds: 21_600, nextBackAt: 5 * HOUR },
			" in 6 h 0 min",
			" (the next one comes back in 3 h 0 min)",
		],
		[{ windowSeconds: 90, nextBackAt: null }, " in 90.0 s", ""],
	])("a budget has the window of %j", (budget, window, back) => {
		expect(windowOf(budget)).toBe(window);
		expect(backWords(budget, 2 * HOUR)).toBe(back);
	});
});

/** Charges one failure at each of these times, and says after which the node is kept out or the run ends. */
function play(
	config: Partial<PlannerConfig>,
	at: readonly number[],
	root: Partial<NodeFailure> = {},
	terms: Partial<RoleTerms> = {},
) {
	const settings = { ...runSpec({ maxRestarts: 1 }), ...config };
	const failure = failureRecord("b", { role: "trainer" });
	let view = runView(
		{ terms: { trainer: { restartsAlone: false, ...terms } } },
		[],
	);
	return at.map((wallTime) => {
		const failed = nodeFailure("b", { failure, ...root });
		const { round, budgets } = pay(
			view,
			view.round,
			failed,
			settings,
			wallTime,
		);
		view = { ...view, round, budgets: new Map([...view.budgets, ...budgets]) };
		const budget = view.budgets.get("b");
		const why = budget && whyBarred("b", budget, settings, wallTime);
		return (
			outcomeOf(round, [failed], settings, wallTime)?.reason ?? why ?? "goes on"
		);
	});
}

describe("a failure", () => {
	it("D2 costs the run's budget only while it is in the window", () => {
		const verdicts = play({ restartWindowMs: HOUR }, [0, HOUR, 1.5 * HOUR]);
		expect(verdicts.slice(0, 2)).toEqual(["goes on", "goes on"]);
		expect(verdicts[2]).toMatch(/the budget of 1 restart in 1h is spent$/);
	});

	it("D1 beyond a node's limit keeps the node out, and costs nobody else", () => {
		const verdicts = play({ maxRestarts: 2, maxNodeRestarts: 2 }, [0, 1, 2, 3]);
		expect(verdicts.slice(0, 2)).toEqual(["goes on", "goes on"]);
		expect(verdicts[2]).toMatch(/^b has failed more often .* 2 restarts/);
	});

	it("D2 beyond a role's limit ends the run", () => {
		const verdicts = play({ maxRestarts: 9 }, [0, 1], {}, { maxRestarts: 1 });
		expect(verdicts[1]).toMatch(
			/the budget of 1 restart of the role trainer is spent$/,
		);
	});

	it("D2 is counted by run, node and role together, each in its own window", () => {
		const limits = {
			...{ maxRestarts: 3, restartWindowMs: HOUR },
			...{ maxNodeRestarts: 2, nodeWindowMs: HOUR },
		};
		const ofRole = { maxRestarts: 5, windowMs: 3 * HOUR };
		const slowly = [0, 0.6, 1.2, 1.8, 2.4, 2.9].map((hours) => hours * HOUR);
		const verdicts = play(limits, slowly, {}, ofRole);
		expect(verdicts.slice(0, 5)).toEqual(Array(5).fill("goes on"));
		expect(verdicts[5]).toMatch(
			/the budget of 5 restarts in 3h of the role trainer is spent$/,
		);
		expect(play(limits, [0, 1, 2], {}, ofRole)[2]).toMatch(
			/^b has failed more often than its limit of 2 restarts in 1h/,
		);
	});

	it.each([
		"node",
		"worker",
	] as const)("D2 of a %s comes back after its window", (charge) => {
		const verdicts = play({ restartWindowMs: HOUR }, [0, 1, 3 * HOUR], {
			charge,
		});
		expect(verdicts[1]).toMatch(/has used up its budget of 1 restart in 1h$/);
		expect(verdicts[2]).toBe("goes on");
	});

	it("P10 that costs nothing costs no budget", () => {
		const limits = { maxRestarts: 0, maxNodeRestarts: 0 };
		const free = { charge: "nothing" } as const;
		expect(play(limits, [0, 1], free, { maxRestarts: 0 })).toEqual(
			Array(2).fill("goes on"),
		);
	});
});
