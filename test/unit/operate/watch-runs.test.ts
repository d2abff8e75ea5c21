import { describe, expect, it } from "vitest";
import { fingerprint, watchLine } from "../../../src/operate/watch-runs.js";
import type { RunDocument } from "../../../src/status/run-document.js";
import { nodeStatus, runStatus } from "../../helpers/run-status.js";
import { failureRecord } from "../../helpers/run-view.js";

const waiting = (words: string) => ({
	...{ words, since: 1, until: 2, needed: 1, missing: [] },
});
const ended = (result: "succeeded" | "stopped") => ({
	...{ result, exitCode: 0, reason: "because", root: null },
});

it.each<[string, Partial<RunDocument>]>([
	[
		"waiting for 1 more node (at least 2): node-a is here",
		{
			phase: "forming",
			waiting: waiting(
				"waiting for 1 more node (at least 2): node-a is here; 590 s left",
			),
		},
	],
	["round 2 runs: 4 workers on 2 nodes", { nodes: [nodeStatus("a")] }],
	[
		"round 2 runs: 4 workers on 2 nodes, 1 spare; last call while round 2 runs: c would join",
		{
			nodes: [nodeStatus("c", { part: "spare" })],
			waiting: waiting("last call while round 2 runs: c would join; 3 s left"),
		},
	],
	[
		"round 2 is being left: rank 1 on a: exit code 5",
		{
			phase: "leaving",
			lastIncident: {
				...{ round: 2, at: 1, reason: "rank 1 on a: exit code\u0007 5" },
				root: failureRecord("a"),
			},
		},
	],
	["round 2 is being left", { phase: "leaving" }],
	["between two rounds", { phase: "waiting" }],
	["stopped: because", { phase: "ended", outcome: ended("stopped") }],
	["not ended, but has no agents", { phase: "abandoned" }],
])("one line of a run that is watched: %s", (line, status) => {
	expect(watchLine(runStatus(status))).toBe(`run train: ${line}`);
});

describe("that a run has changed", () => {
	const of = (change: Partial<RunDocument>, place = "p") =>
		fingerprint({ status: runStatus(change), place });

	it.each<[string, Partial<RunDocument>, Partial<RunDocument>, boolean]>([
		[
			"is not said of the time that is left",
			{ waiting: waiting("w; 9 s left") },
			{ waiting: { ...waiting("w; 8 s left"), until: 3 } },
			false,
		],
		[
			"is said of who is missing",
			{ waiting: waiting("w") },
			{ waiting: { ...waiting("w"), missing: ["b"] } },
			true,
		],
		["is said of a node", {}, { nodes: [nodeStatus("a")] }, true],
	])("%s", (_, before, after, hasChanged) => {
		expect(of(before) !== of(after)).toBe(hasChanged);
	});
});
