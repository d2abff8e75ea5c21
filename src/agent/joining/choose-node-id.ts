import type { Clock } from "../../base/clock.js";
import { ElasticRunError } from "../../base/errors.js";
import type { Logger } from "../../base/logger.js";
import type { AgentConfig } from "../../config/index.js";
import { findLocalAgents, readNodeFile } from "../../node-files/index.js";
import {
	decodeNode,
	freeNodeId,
	type NodeRecord,
	nodeIdCandidates,
	RECREATED,
	RunKeys,
	reachStore,
	recordAt,
	type Whereabouts,
	whereaboutsOf,
} from "../../rendezvous/index.js";
import type { Snapshot, Store } from "../../store/index.js";

export interface ChooseOptions {
	readonly config: AgentConfig;
	readonly store: Store;
	readonly clock: Clock;
	readonly log: Logger;
	readonly random: () => number;
	/** Agents may have their files below it. */
	readonly temporaryDirectory: string;
	/** Whether the launch was given up. */
	readonly isAborted: () => boolean;
}

/** Few hosts run more agents of one run. */
const CANDIDATES_A_LOOK = 8;

export interface ChosenId {
	readonly nodeId: string;
	readonly isReturning: boolean;
	/** The process of this node that ended to be started again. */
	readonly succeeds: string | undefined;
}

/** The given id, or the first free one derived from the host's name. */
export async function chooseNodeId(
	options: ChooseOptions,
	isDead: (process: Whereabouts) => boolean,
): Promise<ChosenId> {
	const { config, store, log } = options;
	const keys = new RunKeys(config.runId);
	const patience = { ...options, say: (words: string) => log.warn(words) };
	const here = idsHere(options);
	for (let from = 1; ; from += CANDIDATES_A_LOOK) {
		const candidates = config.isNodeIdDerived
			? nodeIdCandidates(config.nodeId, from, CANDIDATES_A_LOOK).filter(
					(id) => !here.has(id),
				)
			: [config.nodeId];
		const { entries } = await reachStore(() => {
			refuseAborted(options);
			return store.snapshot(
				candidates.flatMap((id) => [
					...[keys.node(id), keys.seat(id), keys.recreatedBy(id)],
				]),
			);
		}, patience);
		const nodeId = config.isNodeIdDerived
			? freeNodeId(candidates, recordsOf(entries, keys), (holder) =>
					isDead(whereaboutsOf(holder)),
				)
			: config.nodeId;
		if (nodeId === undefined) continue;
		return {
			nodeId,
			isReturning: entries.has(keys.seat(nodeId)),
			succeeds: recordAt(RECREATED, { entries }, keys.recreatedBy(nodeId))
				?.incarnation,
		};
	}
}

/** The ids of the run's living agents on this machine: one may have no record because its lease has run out. */
function idsHere({
	config: { runId, channelBase },
	temporaryDirectory,
}: Pick<ChooseOptions, "config" | "temporaryDirectory">): ReadonlySet<string> {
	const uid = process.getuid?.() ?? 0;
	const agents = findLocalAgents([channelBase, temporaryDirectory], uid);
	const nodes = agents.flatMap((agent) => readNodeFile(agent) ?? []);
	const ofRun = nodes.filter((node) => node.runId === runId);
	return new Set(ofRun.map(({ nodeId }) => nodeId));
}

export function refuseAborted({
	isAborted,
}: Pick<ChooseOptions, "isAborted">): void {
	if (!isAborted()) return;
	throw new ElasticRunError("ABORTED", "the launch was given up");
}

function recordsOf(
	entries: Snapshot["entries"],
	keys: RunKeys,
): ReadonlyMap<string, NodeRecord> {
	const records = [...entries]
		.filter(([key]) => key.startsWith(keys.nodes))
		.map(([key, entry]): [string, NodeRecord] => [
			key.slice(keys.nodes.length),
			decodeNode(entry),
		]);
	return new Map(records);
}
