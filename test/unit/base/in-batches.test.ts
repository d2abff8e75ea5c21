import { expect, it } from "vitest";
import { inBatches } from "../../../src/agent/workers/worker-starts.js";

/** What was done with items 1 … `count`, in order, where `fails` says which preparation throws. */
function story(
	count: number,
	most: number,
	fails: (item: number, prepared: number) => boolean = () => false,
	lasts = Number.POSITIVE_INFINITY,
) {
	const steps: string[] = [];
	let open = 0;
	const items = Array.from({ length: count }, (_, index) => index + 1);
	const rest = inBatches(
		items,
		most,
		(item) => {
			if (fails(item, open)) throw new Error(`no room for ${item}`);
			open += 1;
			steps.push(`prepare ${item}`);
			return `p${item}`;
		},
		(item, prepared) => {
			open -= 1;
			steps.push(`use ${item} ${prepared}`);
		},
		() => steps.length >= lasts,
	);
	return { steps, rest };
}

it("prepares a batch before it uses the first of it, each twice as large as the one before", () => {
	expect(story(4, 2)).toEqual({
		steps: [
			"prepare 1",
			"use 1 p1",
			"prepare 2",
			"prepare 3",
			"use 2 p2",
			"use 3 p3",
			"prepare 4",
			"use 4 p4",
		],
		rest: undefined,
	});
});

it("tries an item again alone when those before it are used, for they held what it lacked", () => {
	const { steps, rest } = story(5, 4, (_, open) => open === 1);
	expect(steps).toEqual(
		[1, 2, 3, 4, 5].flatMap((item) => [
			`prepare ${item}`,
			`use ${item} p${item}`,
		]),
	);
	expect(rest).toBeUndefined();
});

it("ends at an item that fails alone, and names it and those after it", () => {
	const { steps, rest } = story(4, 4, (item) => item === 3);
	expect(steps).toEqual(["prepare 1", "use 1 p1", "prepare 2", "use 2 p2"]);
	expect(rest).toEqual({ left: [3, 4], error: new Error("no room for 3") });
});

it("ends between two batches when its time is up, and never when nothing is left", () => {
	expect(story(4, 4, undefined, 1).rest).toEqual({ left: [2, 3, 4] });
	expect(story(3, 4, undefined, 6).rest).toBeUndefined();
});
