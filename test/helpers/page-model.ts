import { answered, CONNECTING } from "../../src/http/page/connection.js";
import type { Model } from "../../src/http/page/model.js";
import { NO_SERIES } from "../../src/http/page/series.js";
import type { StatusDocument } from "../../src/http/status-document.js";
import type { WorkerDocument } from "../../src/status/node-document.js";
import type { RunDocument } from "../../src/status/run-document.js";
import {
	type Timeline,
	type TimelineIncident,
	timelineOf,
} from "../../src/status/timeline.js";
import { NOW, nodeStatus, runStatus } from "./run-status.js";

export const worker = (
	change: Partial<WorkerDocument> = {},
): WorkerDocument => ({
	...{ localRank: 0, rank: 0, role: "default", pid: 101 },
	...{ state: "running", since: NOW - 60_000, lastLines: [] },
	...change,
});

export const incident = (
	change: Partial<TimelineIncident> = {},
): TimelineIncident => ({
	...{ kind: "failure", at: NOW - 30_000, round: 1 },
	...{ reason: "rank 1 on node-b: exit code 5", nodes: ["node-b"] },
	...{ rank: 1, pid: 99, hint: null, message: null },
	...change,
});

/** A run of two nodes that has gone on for a minute, in its second round. */
export function timeline(change: Partial<Timeline> = {}): Timeline {
	const made = timelineOf(runStatus(), undefined);
	if (made === undefined) throw new Error("there is a run");
	const from = NOW - 60_000;
	const round = { endedAt: null, worldSize: 4, nodes: 2 };
	return {
		...{ ...made, from, incidents: [incident()] },
		nodes: ["node-a", "node-b"].map((nodeId) => ({
			nodeId,
			spans: [
				{ phase: "running", round: 1, from, to: NOW - 30_000 },
				{ phase: "stopping", round: 1, from: NOW - 30_000, to: NOW - 29_990 },
				{ phase: "running", round: 2, from: NOW - 29_990, to: null },
			],
		})),
		rounds: [
			{ ...round, round: 1, liftedAt: from, cause: "start", reason: "start" },
			{
				...{ ...round, round: 2, liftedAt: NOW - 29_995, cause: "failure" },
				reason: "rank 1 on node-b: exit code 5",
			},
		],
		...change,
	};
}

export function statusDocument(
	change: Partial<StatusDocument> = {},
	run: Partial<RunDocument> = {},
): StatusDocument {
	const nodes = [nodeStatus("node-a"), nodeStatus("node-b", { ranks: [2, 3] })];
	return {
		...{ version: 1, at: NOW, control: false, problem: null },
		run: { ...runStatus({ nodes, ...run }), place: "127.0.0.1:2379" },
		node: {
			...{ nodeId: "node-a", pid: 77, phase: "RUNNING", since: NOW - 60_000 },
			...{ waitsFor: null, workers: [worker()], links: null },
		},
		history: null,
		timeline: timeline(),
		ledger: null,
		...change,
	};
}

/** A page that has just heard of that. */
export function pageModel(change: Partial<Model> = {}): Model {
	return {
		document: statusDocument(),
		connection: answered(CONNECTING, NOW, NOW),
		...{ now: NOW, localNow: NOW, zoom: "all", width: 1_000 },
		control: { token: null, asking: null, said: null },
		series: NO_SERIES,
		...change,
	};
}
