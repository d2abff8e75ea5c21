import { expect, it } from "vitest";
import { staleRuns } from "../../../src/operate/clean.js";
import type { Outcome } from "../../../src/rendezvous/records/records.js";
import type { RunDocument } from "../../../src/status/run-document.js";
import { NOW, nodeStatus, runStatus } from "../../helpers/run-status.js";
import { failureRecord } from "../../helpers/run-view.js";

const outcome: Outcome = {
	result: "failed",
	exitCode: 3,
	reason: "too few",
	root: null,
};
const gone = nodeStatus("b", { state: "gone", pid: null });
const incident = {
	round: 1,
	at: NOW - 9,
	reason: "",
	root: failureRecord("a"),
};

it.each<[string, Partial<RunDocument>, object[]]>([
	[
		"one that has ended",
		{ phase: "ended", since: NOW - 5, outcome, nodes: [gone] },
		[{ kind: "run", name: "train", why: "failed: too few", since: NOW - 5 }],
	],
	[
		"one that was abandoned",
		{ phase: "abandoned", since: null, lastIncident: incident },
		[{ name: "train", why: "it has no agents", since: NOW - 9 }],
	],
	[
		"one that was abandoned before anything happened",
		{ phase: "abandoned", since: null },
		[{ since: 7 }],
	],
	["not one that runs", { nodes: [nodeStatus("a")] }, []],
	["not one between two rounds", { phase: "waiting", nodes: [gone] }, []],
	[
		"not one that has ended while somebody is still leaving",
		{ phase: "ended", outcome, nodes: [gone, nodeStatus("a")] },
		[],
	],
])("a stale run: %s", (_, status, expected) => {
	expect(staleRuns([{ status: runStatus(status), place: "p" }])).toMatchObject(
		expected,
	);
});
