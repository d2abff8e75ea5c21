import { expect, it } from "vitest";
import { inBatches } from "../../../src/base/in-batches.js";

/** What was done with items 1 … `count`, in order, where `fails` says which preparation throws. */
function story(
	count: number,
	size: number,
	fails: (item: number, prepared: number) => boolean = () => false,
) {
	const steps: string[] = [];
	let open = 0;
	const items = Array.from({ length: count }, (_, index) => index + 1);
	const failed = inBatches(
		items,
		size,
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
	);
	return { steps, failed };
}

it("prepares a batch before it uses the first of it", () => {
	expect(story(3, 2)).toEqual({
		steps: [
			"prepare 1",
			"prepare 2",
			"use 1 p1",
			"use 2 p2",
			"prepare 3",
			"use 3 p3",
		],
		failed: undefined,
	});
});

it("tries an item again alone when those before it are used, for they held what it lacked", () => {
	const { steps, failed } = story(4, 4, (_, open) => open === 2);
	expect(steps).toEqual([
		"prepare 1",
		"prepare 2",
		"use 1 p1",
		"use 2 p2",
		"prepare 3",
		"prepare 4",
		"use 3 p3",
		"use 4 p4",
	]);
	expect(failed).toBeUndefined();
});

it("ends at an item that fails alone, and names it and those after it", () => {
	const { steps, failed } = story(4, 4, (item) => item === 3);
	expect(steps).toEqual(["prepare 1", "prepare 2", "use 1 p1", "use 2 p2"]);
	expect(failed?.left).toEqual([3, 4]);
	expect(failed?.error).toEqual(new Error("no room for 3"));
});
