import { expect, it } from "vitest";
import { orderInWords } from "../../../bin/commands/leave.js";
import type { OrderReport } from "../../../src/operate/order-node.js";

const words = (change: Partial<OrderReport>) =>
	orderInWords({
		...{ version: 1, runId: "r", nodeId: "b", place: "etcd", order: "drain" },
		...{ deadline: null, left: 1, minNodes: 1 },
		...change,
	});
const TOO_FEW = "a later round needs 2 nodes, and 1 may take part";

it.each<[string, Partial<OrderReport>, boolean]>([
	["enough nodes are left", {}, false],
	["too few are left", { minNodes: 2 }, true],
	["nobody is left to wait", { left: 0 }, false],
	["the node stays after all", { minNodes: 2, order: "stay" }, false],
	["what the run needs is not known", { left: 0, minNodes: null }, false],
])("where %s", (_, change, isWarned) => {
	const printed = words(change);
	expect(printed).toMatch(/^b of run r .*\n/);
	expect(printed.includes(TOO_FEW)).toBe(isWarned);
});
