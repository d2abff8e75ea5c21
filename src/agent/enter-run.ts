import { hostIdOf, isGone, ownIdentity } from "../channel/process-identity.js";
import type { Clock } from "../clock.js";
import { ElasticRunError } from "../errors.js";
import type { JoinedRun } from "../rendezvous/join-run.js";
import { RunKeys } from "../rendezvous/keys.js";
import {
	Membership,
	type MembershipOptions,
} from "../rendezvous/membership.js";
import { freeNodeId, nodeIdCandidates } from "../rendezvous/node-id.js";
import { decodeRecord } from "../rendezvous/record-codec.js";
import type { NodeRecord } from "../rendezvous/records.js";
import type { Snapshot, Store } from "../rendezvous/store.js";
import type { AgentConfig } from "./configuration/agent-config.js";
import { detectLocalAddress } from "./local-address.js";
import type { Logger } from "./logger.js";
import { reachStore } from "./reach-store.js";
import { runSpec } from "./run-spec.js";

/** Few hosts run more agents of one run. */
const CANDIDATES_A_LOOK = 8;

/** A configuration in which nothing is left open: what only the store and the way to it could tell is filled in. */
export type NodeConfig = AgentConfig & { readonly localAddr: string };

export interface EnterRunOptions {
	readonly config: AgentConfig;
	readonly store: Store;
	readonly clock: Clock;
	readonly log: Logger;
	readonly random: () => number;
	/** Writes that one transaction of a coordinator may hold: see `CoordinatorOptions`. */
	readonly batchSize?: number | undefined;
	/** Names this process. */
	readonly incarnation: string;
	/** Whoever is told of the run. */
	readonly listener: Pick<
		MembershipOptions,
		"reservePort" | "onView" | "onLost" | "onError" | "onPlanReason"
	>;
	/** Told of each membership before it joins, so that it can be closed whatever happens; the last one counts. */
	readonly onMembership: (membership: Membership) => void;
	/** Whether nobody waits for the run any more. */
	readonly isAborted: () => boolean;
}

export interface EnteredRun {
	readonly config: NodeConfig;
	readonly membership: Membership;
	readonly joined: Exclude<JoinedRun, { holder: NodeRecord }>;
	/** The plan that is there has a seat for this node: it comes back, perhaps as another process. */
	readonly isReturning: boolean;
	/** Where the run's state is. */
	readonly store: Store;
}

/**
 * Reaches the store, settles what this node is called and how others reach it,
 * and joins the run.
 * @throws ElasticRunError STORE_UNREACHABLE, RENDEZVOUS_FAILED; ABORTED where it was given up
 */
export async function enterRun(options: EnterRunOptions): Promise<EnteredRun> {
	const { config, clock } = options;
	const self = ownIdentity();
	const hostId = hostIdOf(self);
	const isDead = (holder: NodeRecord) =>
		hostId !== "" && holder.hostId === hostId && isGone(holder);
	const process = { hostId, pid: self.pid, startTime: self.startTime };
	for (;;) {
		const { nodeId, isReturning } = await chooseNodeId(options, isDead);
		// The store has answered: names that lead to it can be resolved.
		const localAddr =
			config.localAddr ?? (await detectLocalAddress(config, clock));
		const named: NodeConfig = { ...config, localAddr, nodeId };
		refuseAborted(options);
		const membership = openMembership(options, named, { ...process, isDead });
		const joined = await membership.join();
		if (!("holder" in joined)) {
			const { store } = options;
			return { config: named, membership, joined, isReturning, store };
		}
		// Another agent of this host was faster. A lease that cannot be given back lapses, and holds nothing.
		await membership.close().catch(() => {});
	}
}

/** The id that was given, or the first free one of those that follow from the host's name. */
async function chooseNodeId(
	options: EnterRunOptions,
	isDead: (holder: NodeRecord) => boolean,
): Promise<{ readonly nodeId: string; readonly isReturning: boolean }> {
	const { config, store, log } = options;
	const keys = new RunKeys(config.runId);
	const patience = { ...options, say: (words: string) => log.warn(words) };
	for (let from = 1; ; from += CANDIDATES_A_LOOK) {
		const candidates = config.isNodeIdDerived
			? nodeIdCandidates(config.nodeId, from, CANDIDATES_A_LOOK)
			: [config.nodeId];
		const { entries } = await reachStore(() => {
			refuseAborted(options);
			return store.snapshot(
				candidates.flatMap((id) => [keys.node(id), keys.seat(id)]),
			);
		}, patience);
		const nodeId = config.isNodeIdDerived
			? freeNodeId(candidates, recordsOf(entries, keys), isDead)
			: config.nodeId;
		if (nodeId === undefined) continue;
		return { nodeId, isReturning: entries.has(keys.seat(nodeId)) };
	}
}

function refuseAborted({ isAborted }: EnterRunOptions): void {
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
			decodeRecord<NodeRecord>(entry),
		]);
	return new Map(records);
}

function openMembership(
	options: EnterRunOptions,
	config: NodeConfig,
	self: Pick<NodeRecord, "hostId" | "pid" | "startTime"> &
		Pick<MembershipOptions, "isDead">,
): Membership {
	const { store, clock, random, incarnation, listener, batchSize } = options;
	const { isDead, ...process } = self;
	const membership = new Membership({
		...listener,
		store,
		clock,
		random,
		batchSize,
		runId: config.runId,
		identity: {
			...process,
			nodeId: config.nodeId,
			incarnation,
			address: config.localAddr,
			localWorldSize: config.nprocPerNode,
			role: config.role,
		},
		spec: runSpec(config),
		isDead,
		isNodeIdTentative: config.isNodeIdDerived,
	});
	options.onMembership(membership);
	return membership;
}
