import { describe, expect, it } from "vitest";
import type { ColdKind } from "../../../src/model/start.js";
import {
	type HelperFacts,
	helperProblem,
	parkingShortage,
} from "../../../src/warm/machine.js";

describe("a helper", () => {
	const GOOD: HelperFacts = {
		platform: "linux",
		hasSetpriv: true,
		availableBytes: 4e9,
		workerBytes: 1e9,
	};
	it.for<readonly [Partial<HelperFacts>, string?, ColdKind?]>([
		[{}],
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

it("gives processes that wait a quarter of the memory at most", () => {
	expect(parkingShortage(8, undefined)).toBeUndefined();
	expect(parkingShortage(8, 800e6)).toBeUndefined();
	expect(parkingShortage(8, 799e6)).toBe(
		"memory is short: 8 processes that wait need 200 MB, and 799 MB are available",
	);
});
