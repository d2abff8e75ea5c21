import { expect, it, test } from "vitest";
import { asEnded, Observer } from "../../../src/http/observer.js";
import { endRun, leaveNode } from "../../../src/http/routes.js";
import type {
	Outcome,
	RoundRecord,
} from "../../../src/rendezvous/records/records.js";
import type { RunDocument } from "../../../src/status/run-document.js";
import { nodeNow } from "../../helpers/node-now.js";
import { runStatus } from "../../helpers/run-status.js";
import { roundRecord } from "../../helpers/run-view.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const clock = new VirtualClock(5_000);
const observer = new Observer({
	config: {
		...{ runId: "run", nodeId: "node-a", role: "chief", policyId: "soft" },
		http: undefined,
	},
	clock,
	node: () => nodeNow({ waitsFor: "waits to join its run" }),
});

test("before a run is joined there is a node, and words for what is not known", async () => {
	expect(await observer.status()).toEqual({
		...{ version: 1, at: 5_000, control: false },
		problem: "this agent has not joined its run yet",
		...{ run: null, history: null, timeline: null, ledger: null },
		node: {
			...{ nodeId: "node-a", pid: process.pid, phase: "JOINING", since: 1_000 },
			...{ waitsFor: "waits to join its run", workers: [], links: null },
		},
	});
	expect(await observer.metricSources()).toMatchObject({
		...{ role: "chief", policy: "soft", run: undefined, latencyMs: null },
	});
});

test("who leaves before the run is joined leaves; a run that is not joined is not stopped", async () => {
	const told: unknown[] = [];
	const answer = leaveNode(observer, (stop) => told.push(stop));
	expect(answer.status).toBe(202);
	expect(told).toEqual([{ exitCode: 143, reason: "POST /leave" }]);
	expect(await endRun(observer, clock)).toMatchObject({ status: 409 });
});

const outcome: Outcome = {
	...{ result: "succeeded", exitCode: 0, root: null },
	...{ reason: "all nodes have finished", endedAt: 77 },
};
const waiting = { words: "", since: 1, until: null, needed: 1, missing: [] };
const open = runStatus({ instance: 7, waiting });

it.each<[string, RoundRecord | null, Partial<RunDocument>]>([
	[
		"the outcome that was heard of since",
		roundRecord({ instance: 7, outcome }),
		{ outcome, phase: "ended", since: 77, waiting: null },
	],
	["nothing new without one", roundRecord({ instance: 7 }), open],
	["nothing of another start", roundRecord({ instance: 6, outcome }), open],
	["nothing before the first view", null, open],
])("a run has %s", (_, round, expected) => {
	expect(asEnded(open, round)).toEqual({ ...open, ...expected });
});
