import {
	ownIdentity,
	type ProcessIdentity,
} from "../../channel/process-identity.js";
import { isLiving, readProcess } from "../../process-stat.js";
import type { Searcher } from "../status/find-runs.js";
import type { LocalAgent } from "../status/local-agents.js";
import { findLocalAgents, localBases } from "../status/local-agents.js";
import { type NodeFile, readNodeFile } from "../status/node-file.js";

/** An agent of this machine and what it says of itself. */
export interface KnownAgent extends LocalAgent {
	readonly node: NodeFile;
}

/** By what an agent is named; undefined: by nothing. */
export interface AgentName {
	readonly runId: string | undefined;
	readonly nodeId: string | undefined;
}

/** The living agents of this user on this machine that have this name. */
export function findKnownAgents(
	{ runId, nodeId }: AgentName,
	{ host, uid }: Searcher,
): readonly KnownAgent[] {
	return findLocalAgents(localBases(host, uid), uid).flatMap((agent) => {
		const node = readNodeFile(agent);
		if (node === undefined) return [];
		const isMeant =
			(runId === undefined || node.runId === runId) &&
			(nodeId === undefined || node.nodeId === nodeId);
		return isMeant ? [{ ...agent, node }] : [];
	});
}

/**
 * Whether the process that has this pid here is certainly this one: of this
 * boot, of this pid namespace, and started at the same time.
 */
export function isProven(
	process: ProcessIdentity,
	observer: ProcessIdentity = ownIdentity(),
): boolean {
	const { bootId, pidNamespace, pid, startTime } = process;
	const isHere =
		bootId !== "" &&
		bootId === observer.bootId &&
		pidNamespace !== "" &&
		pidNamespace === observer.pidNamespace;
	if (!isHere) return false;
	const found = readProcess(pid);
	return (
		found !== undefined &&
		isLiving(found) &&
		String(found.startTime) === startTime
	);
}
