import { describe, expect, it } from "vitest";
import type { ColdKind, NextStart } from "../../../src/model/start.js";
import {
	isForNode,
	nextParkedStart,
	type ParkingFacts,
	parkedOrCold,
	parkingProblem,
	parkingShortage,
} from "../../../src/warm/parked-or-cold.js";

const HOOK = "/lib/hook.js";
const SHORT = { kind: "memory", reason: "memory is short" } as const;
const READY: ParkingFacts = {
	problem: undefined,
	parked: "ready",
	difference: undefined,
	quickFailures: 0,
};

describe("a start under Node", () => {
	it.for<readonly [Partial<ParkingFacts>, ColdKind | "warm", string]>([
		[{}, "warm", "its process was started ahead"],
		[{ quickFailures: 1 }, "warm", "its process was started ahead"],
		[
			{ quickFailures: 2 },
			"failing",
			"the last two warm starts failed within a second",
		],
		[{ parked: "none" }, "not-ready", "no process is ready yet"],
		[
			{ parked: "stopped" },
			"ended",
			"the process that was started ahead was stopped by a signal",
		],
		[
			{ parked: "ended" },
			"ended",
			"the process that was started ahead has ended",
		],
		[
			{ difference: "NODE_OPTIONS has another value" },
			"changed",
			"NODE_OPTIONS has another value",
		],
		[{ problem: SHORT, parked: "none" }, "memory", "memory is short"],
	])("with %o is %s: %s", ([change, kind, reason]) => {
		const isCold = kind !== "warm";
		expect(parkedOrCold({ ...READY, ...change })).toEqual(
			isCold ? { start: "cold", kind, reason } : { start: "warm", reason },
		);
	});
});

it.for<readonly [ParkingFacts["parked"][], Partial<ParkingFacts>, NextStart]>([
	[["ready", "ready"], {}, { start: "warm", waiting: 2 }],
	[["ready"], {}, { start: "cold", reason: "no process is ready yet" }],
	[
		["ready", "ended"],
		{},
		{ start: "cold", reason: "the process that was started ahead has ended" },
	],
	[[], { problem: SHORT }, { start: "cold", reason: "memory is short" }],
])("says how two workers would start next with %o and %o: %o", ([
	parked,
	change,
	next,
]) => {
	const facts = { ...READY, ...change };
	expect(nextParkedStart(facts, parked, 2)).toEqual(next);
});

const SCRIPT = ["--require", HOOK, "--import", "file:///find.js", "train.js"];
const TYPESCRIPT = ["--import", "file:///tsx.js", "--require", HOOK, "a.ts"];
const ITSELF = "the command starts Node itself: give elastic-run the script";

it.for<readonly [readonly string[], string | undefined, string | undefined]>([
	[SCRIPT, undefined, undefined],
	[TYPESCRIPT, undefined, undefined],
	[["--import", "elastic-run/register", "train.js"], undefined, ITSELF],
	[["--require", "./first.js", "--require", HOOK, "a.js"], undefined, ITSELF],
	[["--inspect", "--require", HOOK, "a.js"], undefined, ITSELF],
	[["--import", "--require", HOOK, "a.js"], undefined, ITSELF],
	[["train.js", HOOK], undefined, ITSELF],
	[SCRIPT, "--max-old-space-size=4096 --enable-source-maps", undefined],
	[SCRIPT, "--max_old_space_size 4096 -C dev", undefined],
	[SCRIPT, "", undefined],
	[SCRIPT, "--inspect=9229", "NODE_OPTIONS has --inspect"],
	[SCRIPT, '--no-warnings --require "./a b.js"', "NODE_OPTIONS has --require"],
	[SCRIPT, "-r ./a.js", "NODE_OPTIONS has -r"],
	[SCRIPT, "--cpu-prof", "NODE_OPTIONS has --cpu-prof"],
])("says why no process can wait: %o with NODE_OPTIONS=%s", ([
	args,
	options,
	problem,
]) => {
	expect(parkingProblem(args, HOOK, options)).toBe(problem);
});

it("knows which commands run under Node", () => {
	const is = (file: string, ...args: string[]) =>
		isForNode({ file, args }, HOOK);
	expect(is("/opt/node-20/bin/node", ...SCRIPT)).toBe(true);
	expect(is("/usr/bin/node", "train.js")).toBe(true);
	expect(is("/usr/bin/python3", "-u", "train.py")).toBe(false);
	expect(is("/job/node.sh", "train.js")).toBe(false);
});

it("wants a quarter of the memory at most", () => {
	expect(parkingShortage(8, undefined)).toBeUndefined();
	expect(parkingShortage(8, 800e6)).toBeUndefined();
	expect(parkingShortage(8, 799e6)).toBe(
		"memory is short: 8 processes that wait need 200 MB, and 799 MB are available",
	);
});
