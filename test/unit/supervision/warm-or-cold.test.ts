import { describe, expect, it } from "vitest";
import {
	type HelperFacts,
	helperProblem,
	type WarmFacts,
	warmOrCold,
} from "../../../src/supervision/warm-or-cold.js";

const READY: WarmFacts = {
	helper: { state: "ready", parked: 2 },
	difference: undefined,
	quickFailures: 0,
};

describe("a start", () => {
	it.for<readonly [Partial<WarmFacts>, "warm" | "cold", string]>([
		[{}, "warm", "its imports are done"],
		[{ quickFailures: 1 }, "warm", "its imports are done"],
		[
			{ quickFailures: 2 },
			"cold",
			"the last two warm starts failed within a second",
		],
		[{ helper: { state: "none" } }, "cold", "no worker has made a step yet"],
		[{ helper: { state: "none", flag: "-I" } }, "cold", "Python runs with -I"],
		[
			{ helper: { state: "preparing" } },
			"cold",
			"the helper is still importing",
		],
		[
			{ helper: { state: "stopped" } },
			"cold",
			"the helper was stopped by a signal",
		],
		[
			{ helper: { state: "refused", reason: "2 threads run" } },
			"cold",
			"2 threads run",
		],
		[
			{ helper: { state: "ready", parked: 0 } },
			"cold",
			"no process is ready yet",
		],
		[
			{ difference: "OMP_NUM_THREADS has another value" },
			"cold",
			"OMP_NUM_THREADS has another value",
		],
	])("with %o is %s", ([facts, start, reason]) => {
		expect(warmOrCold({ ...READY, ...facts })).toEqual({ start, reason });
	});
});

describe("a helper", () => {
	const GOOD: HelperFacts = {
		...{ platform: "linux", hasSetpriv: true },
		...{ availableBytes: 4e9, workerBytes: 1e9 },
	};
	it.for<readonly [Partial<HelperFacts>, string | undefined]>([
		[{}, undefined],
		[{ availableBytes: undefined }, undefined],
		[{ platform: "darwin" }, "warm starts need Linux"],
		[
			{ hasSetpriv: false },
			"warm starts need setpriv of util-linux 2.33 or later",
		],
		[
			{ workerBytes: 2.1e9 },
			"memory is short: a worker has 2100 MB, and 4000 MB are available",
		],
	])("on a machine with %o: %s", ([facts, problem]) => {
		expect(helperProblem({ ...GOOD, ...facts })).toBe(problem);
	});
});
