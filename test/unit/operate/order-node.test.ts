import { describe, expect, it } from "vitest";
import {
	leftAfter,
	type NodeOrder,
	writeFor,
} from "../../../src/operate/order-node.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import type { Outcome } from "../../../src/rendezvous/records/records.js";
import type { RunView } from "../../../src/rendezvous/records/run-view.js";
import { nodeRecord, runView } from "../../helpers/run-view.js";

const KEYS = new RunKeys("r");
const VIEW = runView({}, [nodeRecord("a"), nodeRecord("b")]);

const writeOf = (order: NodeOrder, nodeId: string, view: RunView = VIEW) =>
	writeFor({ runId: "r", nodeId, order, reason: "by hand" }, KEYS, view);

describe.each<NodeOrder>([
	{ kind: "drain", deadline: 5 },
	{ kind: "stay" },
])("the order to $kind", (order) => {
	it("reaches a node that is there", () => {
		expect(Object.values(writeOf(order, "a"))).toContain(KEYS.drainOf("a"));
	});

	it("is refused where nobody would hear it", () => {
		expect(() => writeOf(order, "c")).toThrow(
			"run r has no node c; its nodes: a, b",
		);
		const outcome: Outcome = {
			...{ result: "succeeded", exitCode: 0, reason: "", root: null },
		};
		const ended = runView({ outcome }, []);
		expect(() => writeOf(order, "a", ended)).toThrow("run r has ended");
	});
});

it.each<[NodeOrder["kind"], string, number]>([
	["drain", "a", 1],
	["stay", "a", 2],
])("after the order to %s %s, %d nodes may take part in a later round", (kind, nodeId, left) => {
	const order: NodeOrder =
		kind === "drain" ? { kind, deadline: undefined } : { kind };
	const leaving = nodeRecord("c", { state: "leaving" });
	const nodes = [nodeRecord("a"), nodeRecord("b"), leaving];
	expect(leftAfter({ nodeId, order }, runView({}, nodes))).toBe(left);
});
