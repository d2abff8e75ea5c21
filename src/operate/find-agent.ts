import { isLiving, readProcess } from "../base/process-stat.js";
import { ownIdentity, type ProcessIdentity } from "../channel/index.js";
import type { NodeLinks } from "../model/index.js";
import {
	findLocalAgents,
	type LocalAgent,
	localBases,
	type NodeFile,
	readLinksFile,
	readNodeFile,
} from "../node-files/index.js";
import type { Searcher } from "./found-runs.js";

/** An agent of this machine with its own description. */
export interface KnownAgent extends LocalAgent {
	readonly node: NodeFile;
}

/** The names that select an agent; undefined: any. */
export interface AgentName {
	readonly runId: string | undefined;
	readonly nodeId: string | undefined;
}

/** This user's living agents on this machine with this name. */
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

/** What the launchers of a run on this machine know by their links. */
export function findLinks(
	runId: string,
	searcher: Searcher,
): readonly (NodeLinks & { readonly nodeId: string })[] {
	const agents = findKnownAgents({ runId, nodeId: undefined }, searcher);
	return agents.flatMap((agent) => {
		const links = readLinksFile(agent);
		return links ? [{ nodeId: agent.node.nodeId, ...links }] : [];
	});
}

/** Whether the process with this pid is certainly this one: same boot, same pid namespace, same start time. */
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
