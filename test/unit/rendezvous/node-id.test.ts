import { describe, expect, it } from "vitest";
import {
	freeNodeId,
	nodeIdCandidates,
} from "../../../src/rendezvous/records/record-writer.js";
import type { NodeRecord } from "../../../src/rendezvous/records/records.js";
import { nodeRecord } from "../../helpers/run-view.js";

const LONGEST = "x".repeat(128);
const CANDIDATES = nodeIdCandidates("host", 1, 3);

/** Records by node id, each of a process that lives or is certainly gone. */
function records(
	holders: Readonly<Record<string, "lives" | "gone">>,
): ReadonlyMap<string, NodeRecord> {
	return new Map(
		Object.entries(holders).map(([nodeId, how]) => [
			nodeId,
			nodeRecord(nodeId, { pid: how === "gone" ? 0 : 1 }),
		]),
	);
}

describe("the node id of an agent that was given none", () => {
	it.each<[string, Parameters<typeof records>[0], string | undefined]>([
		["the host's name", {}, "host"],
		["the next number where it lives", { host: "lives" }, "host-2"],
		["the name of a process that is gone", { host: "gone" }, "host"],
		["the lowest that is free", { host: "lives", "host-3": "lives" }, "host-2"],
		[
			"the lowest whose process is gone",
			{ host: "lives", "host-2": "gone", "host-3": "gone" },
			"host-2",
		],
		[
			"none of those that all live",
			{ host: "lives", "host-2": "lives", "host-3": "lives" },
			undefined,
		],
		["its own, whoever else is there", { other: "lives" }, "host"],
	])("is %s", (_, holders, nodeId) => {
		const isDead = ({ pid }: NodeRecord) => pid === 0;
		expect(freeNodeId(CANDIDATES, records(holders), isDead)).toBe(nodeId);
	});

	it("stays a legal name with its number", () => {
		expect(nodeIdCandidates(LONGEST, 1, 2)).toEqual([
			LONGEST,
			`${"x".repeat(126)}-2`,
		]);
	});
});
