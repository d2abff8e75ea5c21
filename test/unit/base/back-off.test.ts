import { describe, expect, it } from "vitest";
import {
	backOffMs,
	HopelessStoreError,
	retry,
} from "../../../src/base/back-off.js";
import { ElasticRunError } from "../../../src/base/errors.js";
import { settle, VirtualClock } from "../../helpers/virtual-clock.js";

describe("the wait before the next try", () => {
	it.each([
		[1, 0, 25],
		[1, 0.5, 37.5],
		[2, 0, 50],
		[5, 0, 400],
		[6, 0, 500],
		[100, 0, 500],
		[100, 0.5, 750],
	])("after %i failures, with chance at %f, is %f ms", (failures, random, delayMs) => {
		expect(backOffMs(failures, random)).toBe(delayMs);
	});
});

describe("retry", () => {
	const unreachable = new ElasticRunError("STORE_UNREACHABLE", "no answer");

	async function tries(
		error: Error,
		failing: number,
		patienceMs: number,
		more: { evenHopeless?: boolean } = {},
	) {
		const clock = new VirtualClock(0);
		let count = 0;
		let result: unknown;
		const until = patienceMs;
		retry({ clock, random: () => 0, until, ...more }, async () => {
			count += 1;
			if (count <= failing) throw error;
			return "done";
		}).then(
			(value) => {
				result = value;
			},
			(failure) => {
				result = failure;
			},
		);
		await clock.advance(60_000);
		await settle();
		return { count, result };
	}

	it("tries until it works", async () => {
		expect(await tries(unreachable, 5, 30_000)).toEqual({
			count: 6,
			result: "done",
		});
	});

	it("gives up in time, with the last error", async () => {
		const { count, result } = await tries(unreachable, 1_000, 1_000);
		expect(count).toBe(6);
		expect(result).toBe(unreachable);
	});

	it("does not try again what trying cannot mend", async () => {
		const bug = new Error("a bug");
		expect(await tries(bug, 1, 30_000)).toEqual({ count: 1, result: bug });
	});

	it("does not try again where that is hopeless, unless it is told to", async () => {
		const refused = new HopelessStoreError("wrong password");
		expect(await tries(refused, 5, 30_000)).toEqual({
			count: 1,
			result: refused,
		});
		expect(await tries(refused, 5, 30_000, { evenHopeless: true })).toEqual({
			count: 6,
			result: "done",
		});
	});
});
