import type { NodeStatus, RunDocument } from "../../src/status/run-document.js";
import { WORLD } from "./run-view.js";

/** Milliseconds since 1970 at which these look at their run. */
export const NOW = 1_795_000_000_000;

export const nodeStatus = (
	nodeId: string,
	change: Partial<NodeStatus> = {},
): NodeStatus => ({
	nodeId,
	part: "member",
	state: "running",
	since: NOW - 60_000,
	role: "default",
	groupRank: 0,
	ranks: [0, 1],
	pid: 77,
	address: "10.0.0.1",
	hostId: "boot",
	workerPids: [101, 102],
	workers: [],
	...{ cause: null, notice: null },
	restarts: { allowed: 3, used: 0, left: 3 },
	...change,
});

export const runStatus = (change: Partial<RunDocument> = {}): RunDocument => ({
	version: 1,
	runId: "train",
	phase: "running",
	since: NOW - 61_000,
	instance: 7,
	round: 2,
	world: WORLD,
	minNodes: 1,
	maxNodes: 3,
	policy: "hard",
	waiting: null,
	coordinator: "node-a",
	restarts: { allowed: 3, used: 1, left: 2 },
	incidents: 1,
	lastIncident: null,
	outcome: null,
	straggler: null,
	hang: null,
	nodes: [],
	preflights: [],
	...change,
});
