import { describe, expect, it } from "vitest";
import type { ColdKind, NextStart } from "../../../src/model/start.js";
import type { WorkerExit } from "../../../src/processes/worker.js";
import type { NextFacts, StartFacts } from "../../../src/warm/ahead.js";
import {
	nextStart,
	QUICK_MS,
	QuickRounds,
	warmOrCold,
} from "../../../src/warm/warm-or-cold.js";

const READY = { problem: undefined, difference: undefined, waiting: 2 };
const SHORT = { kind: "memory", reason: "memory is short" } as const;
const TOO_QUICK = "the last two warm starts failed within a second";
const NONE_READY = "no process is ready yet";
const CHANGED = "OMP_NUM_THREADS has another value";

describe("a start", () => {
	it.for<readonly [Partial<StartFacts>, number, ColdKind, string]>([
		[{}, 2, "failing", TOO_QUICK],
		[{ problem: SHORT }, 2, "failing", TOO_QUICK],
		[{ problem: SHORT, difference: CHANGED }, 0, "memory", "memory is short"],
		[{ waiting: 0, difference: CHANGED }, 0, "changed", CHANGED],
		[{ waiting: 0 }, 0, "not-ready", NONE_READY],
	])("with %o after %i quick rounds is cold, %s: %s", ([
		facts,
		quickRounds,
		kind,
		reason,
	]) => {
		const decision = warmOrCold({ ...READY, ...facts }, quickRounds);
		expect(decision).toEqual({ start: "cold", kind, reason });
	});

	it.each([
		0, 1,
	])("is warm after %i quick rounds if nothing is against it", (quickRounds) => {
		expect(warmOrCold(READY, quickRounds)).toEqual({ start: "warm" });
	});
});

describe("the next start", () => {
	const shown = { modules: 1_940, bytes: 296e6 };
	const importing = { isImporting: true, problem: SHORT };
	it.for<readonly [Partial<NextFacts>, number, NextStart]>([
		[{ shown }, 0, { start: "warm", ...shown }],
		[{ shown, waiting: 0 }, 0, { start: "cold", reason: NONE_READY, ...shown }],
		[{ shown }, 2, { start: "cold", reason: TOO_QUICK, ...shown }],
		[importing, 0, { start: "importing", reason: "memory is short" }],
		[{ problem: SHORT }, 0, { start: "cold", reason: "memory is short" }],
	])("with %o after %i quick rounds: %o", ([facts, quickRounds, next]) => {
		const usual = { ...READY, isImporting: false, shown: {} };
		expect(nextStart({ ...usual, ...facts }, quickRounds)).toEqual(next);
	});
});

describe("rounds whose warm workers failed at once", () => {
	type End = readonly [round: string, uptimeMs: number, by: "itself" | "agent"];

	it.each<readonly [string, number, readonly End[]]>([
		[
			"count once each",
			1,
			[
				["2", 100, "itself"],
				["2", 100, "itself"],
			],
		],
		[
			"count in a row, if a peer took longer to end",
			2,
			[
				["2", 100, "itself"],
				["2", 5_000, "agent"],
				["3", 100, "itself"],
			],
		],
		[
			"do not count before one that lasted",
			1,
			[
				["2", 100, "itself"],
				["3", 60_000, "agent"],
				["4", 100, "itself"],
			],
		],
		["do not count what the launcher has ended", 0, [["2", 100, "agent"]]],
	])("%s", (_, count, ends) => {
		const rounds = new QuickRounds();
		for (const [round, uptimeMs, by] of ends) {
			const signalledByAgent = by === "agent";
			const exit = { code: 1, signal: null, uptimeMs, signalledByAgent };
			rounds.noteEnd(exit, round);
		}
		expect(rounds.count).toBe(count);
	});

	it.each<readonly [string, number, Partial<WorkerExit>]>([
		["fails as early", 0, {}],
		["lasted", 1, { uptimeMs: 60_000 }],
		["was ended by the launcher", 1, { signalledByAgent: true }],
		["succeeded", 1, { code: 0 }],
	])("are counted from zero again if a cold one after them %s", (_, count, change) => {
		const rounds = new QuickRounds();
		const signalledByAgent = false;
		const exit = { code: 1, signal: null, uptimeMs: 100, signalledByAgent };
		rounds.noteEnd(exit, "2");
		rounds.noteColdEnd({ ...exit, ...change }, QUICK_MS);
		expect(rounds.count).toBe(count);
	});
});
