import { describe, expect, it } from "vitest";
import type { NodeStatus } from "../../../src/status/run-document.js";
import {
	coldReasons,
	showsStarts,
	startCells,
} from "../../../src/status/status-text.js";
import { nodeStatus } from "../../helpers/run-status.js";

type Told = Pick<NodeStatus, "starts" | "nextStart">;

const FIRST = "no step was made before";
const SHORT = "memory is short";
const node = (nodeId: string, told: Told) => nodeStatus(nodeId, told);

describe("how a node's workers were started, and will be", () => {
	it.for<readonly [Told, string, string]>([
		[{}, "-", "-"],
		[{ starts: { warm: 2, cold: 0 } }, "warm", "-"],
		[
			{ starts: { warm: 2, cold: 0, savedMs: 4_700 } },
			"warm, saved 4.7 s",
			"-",
		],
		[{ starts: { warm: 0, cold: 2, reason: FIRST } }, "cold", "-"],
		[{ starts: { warm: 1, cold: 1, reason: FIRST } }, "1 of 2 warm", "-"],
		[{ nextStart: { start: "importing", reason: "…" } }, "-", "importing"],
		[{ nextStart: { start: "cold", reason: SHORT } }, "-", "cold"],
		[
			{ nextStart: { start: "warm", modules: 1_940, bytes: 296_400_000 } },
			"-",
			"warm (1940 modules, 296 MB)",
		],
		[{ nextStart: { start: "warm", waiting: 2 } }, "-", "warm (2 wait)"],
	])("%o: %s, %s", ([told, started, next]) => {
		expect(startCells(node("a", told))).toEqual([started, next]);
		expect(showsStarts([node("a", told)])).toBe(Object.keys(told).length > 0);
	});
});

it("says each reason once, with its nodes, those of most nodes first", () => {
	const cold = (reason: string): Told => ({
		starts: { warm: 0, cold: 1, reason: FIRST },
		nextStart: { start: "cold", reason },
	});
	const nodes = ["a", "b", "c", "d", "e", "f"].map((nodeId) =>
		node(nodeId, nodeId === "f" ? cold(FIRST) : cold(SHORT)),
	);
	expect(coldReasons(nodes)).toEqual([
		`  started cold on a, b, c, d and 2 more: ${FIRST}`,
		`  the next start is cold on a, b, c, d and 1 more: ${SHORT}`,
		`  the next start is cold on f: ${FIRST}`,
	]);
	const many = nodes.map(({ nodeId }) => node(nodeId, cold(`${nodeId} …`)));
	expect(coldReasons(many).at(-1)).toBe("  … and 3 other reasons");
	const importing = { start: "importing", reason: "…" } as const;
	expect(coldReasons([node("a", { nextStart: importing })])).toEqual([]);
});
