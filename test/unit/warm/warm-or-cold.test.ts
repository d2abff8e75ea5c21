import { describe, expect, it } from "vitest";
import type { ColdKind, NextStart } from "../../../src/model/start.js";
import {
	type HelperFacts,
	helperProblem,
	nextWarmStart,
	type WarmFacts,
	warmOrCold,
} from "../../../src/warm/warm-or-cold.js";

const READY: WarmFacts = {
	helper: { state: "ready", parked: 2 },
	difference: undefined,
	quickFailures: 0,
};

describe("a start", () => {
	it.for<readonly [Partial<WarmFacts>, ColdKind | "warm", string]>([
		[{}, "warm", "its imports are done"],
		[{ quickFailures: 1 }, "warm", "its imports are done"],
		[
			{ quickFailures: 2 },
			"failing",
			"the last two warm starts failed within a second",
		],
		[{ helper: { state: "none" } }, "first", "no worker has made a step yet"],
		[
			{ helper: { state: "none", flag: "-I" } },
			"command",
			"Python runs with -I",
		],
		[
			{ helper: { state: "preparing" } },
			"not-ready",
			"the helper is still importing",
		],
		[
			{ helper: { state: "stopped" } },
			"ended",
			"the helper was stopped by a signal",
		],
		[
			{
				helper: { state: "refused", kind: "refused", reason: "2 threads run" },
			},
			"refused",
			"2 threads run",
		],
		[
			{ helper: { state: "ready", parked: 0 } },
			"not-ready",
			"no process is ready yet",
		],
		[
			{ difference: "OMP_NUM_THREADS has another value" },
			"changed",
			"OMP_NUM_THREADS has another value",
		],
	])("with %o is %s: %s", ([facts, kind, reason]) => {
		const isCold = kind !== "warm";
		expect(warmOrCold({ ...READY, ...facts })).toEqual(
			isCold ? { start: "cold", kind, reason } : { start: "warm", reason },
		);
	});
});

describe("the next start", () => {
	const IMPORTED = { modules: 1_940, bytes: 296e6 };
	const TOO_QUICK = "the last two warm starts failed within a second";
	it.for<readonly [WarmFacts["helper"], number, NextStart]>([
		[READY.helper, 0, { start: "warm", ...IMPORTED }],
		[
			{ state: "ready", parked: 0 },
			0,
			{ start: "cold", reason: "no process is ready yet", ...IMPORTED },
		],
		[READY.helper, 2, { start: "cold", reason: TOO_QUICK, ...IMPORTED }],
		[
			{ state: "preparing" },
			0,
			{ start: "importing", reason: "the helper is still importing" },
		],
		[
			{ state: "refused", kind: "memory", reason: "memory is short" },
			0,
			{ start: "cold", reason: "memory is short" },
		],
		[
			{ state: "none" },
			0,
			{ start: "cold", reason: "no worker has made a step yet" },
		],
	])("with %o after %i quick failures: %o", ([helper, quickFailures, next]) => {
		expect(nextWarmStart({ helper, quickFailures }, IMPORTED)).toEqual(next);
	});
});

describe("a helper", () => {
	const GOOD: HelperFacts = {
		...{ platform: "linux", hasSetpriv: true },
		...{ availableBytes: 4e9, workerBytes: 1e9 },
	};
	it.for<readonly [Partial<HelperFacts>, string?, ColdKind?]>([
		[{}],
		[{ availableBytes: undefined }],
		[{ platform: "darwin" }, "warm starts need Linux", "machine"],
		[
			{ hasSetpriv: false },
			"warm starts need setpriv of util-linux 2.33 or later",
			"machine",
		],
		[
			{ workerBytes: 2.1e9 },
			"memory is short: a worker has 2100 MB, and 4000 MB are available",
			"memory",
		],
	])("on a machine with %o: %s", ([facts, reason, kind]) => {
		const problem = helperProblem({ ...GOOD, ...facts });
		expect(problem).toEqual(reason && { reason, kind });
	});
});
