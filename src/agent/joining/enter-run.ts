import type { Clock } from "../../base/clock.js";
import { ElasticRunError } from "../../base/errors.js";
import type { Logger } from "../../base/logger.js";
import {
	hostIdOf,
	isGone,
	ownIdentity,
} from "../../channel/process-identity.js";
import type { AgentConfig } from "../../config/agent-config.js";
import { identifyCommand } from "../../config/command-identity.js";
import type { JoinedRun } from "../../rendezvous/member/join-run.js";
import {
	Membership,
	type MembershipOptions,
} from "../../rendezvous/member/membership.js";
import { RunKeys } from "../../rendezvous/records/keys.js";
import {
	freeNodeId,
	nodeIdCandidates,
} from "../../rendezvous/records/node-id.js";
import type { NodeRecord } from "../../rendezvous/records/records.js";
import type { RunCommand } from "../../rendezvous/records/run-command.js";
import { decodeNode } from "../../rendezvous/records/run-view.js";
import type { Snapshot, Store } from "../../rendezvous/store/store.js";
import { detectLocalAddress } from "./local-address.js";
import { reachStore } from "./reach-store.js";
import { runSpec } from "./run-spec.js";

/** Few hosts run more agents of one run. */
const CANDIDATES_A_LOOK = 8;

/** A complete configuration: the values that depend on the store or the route to it are set. */
export type NodeConfig = AgentConfig & { readonly localAddr: string };

export interface EnterRunOptions {
	readonly config: AgentConfig;
	readonly store: Store;
	readonly clock: Clock;
	readonly log: Logger;
	readonly random: () => number;
	/** Names this process. */
	readonly incarnation: string;
	readonly listener: Pick<
		MembershipOptions,
		"reservePort" | "onPlanReason" | "onSkipped"
	>;
	/** Called with each membership before it joins, so that it can always be closed; the last one counts. */
	readonly onMembership: (membership: Membership) => void;
	/** Whether the launch was given up. */
	readonly isAborted: () => boolean;
}

export interface EnteredRun {
	readonly config: NodeConfig;
	readonly membership: Membership;
	readonly joined: Exclude<JoinedRun, { holder: NodeRecord }>;
	/** The present plan has a seat for this node: it comes back, perhaps as another process. */
	readonly isReturning: boolean;
	/** The store of the run's state. */
	readonly store: Store;
}

/**
 * Reaches the store, determines this node's name and address, and joins the run.
 * @throws ElasticRunError STORE_UNREACHABLE, RENDEZVOUS_FAILED; ABORTED if the launch was given up
 */
export async function enterRun(options: EnterRunOptions): Promise<EnteredRun> {
	const { config, clock } = options;
	const self = ownIdentity();
	const hostId = hostIdOf(self);
	const isDead = (holder: NodeRecord) =>
		hostId !== "" && holder.hostId === hostId && isGone(holder);
	const process = { hostId, pid: self.pid, startTime: self.startTime };
	const { typed, cwd } = config.command;
	const command = await identifyCommand(typed, cwd);
	for (;;) {
		const { nodeId, isReturning } = await chooseNodeId(options, isDead);
		// The store has answered, so names that lead to it can be resolved.
		const localAddr =
			config.localAddr ?? (await detectLocalAddress(config, clock));
		const named: NodeConfig = { ...config, localAddr, nodeId };
		refuseAborted(options);
		const membership = openMembership(
			options,
			named,
			{ ...process, isDead },
			command,
		);
		const joined = await membership.join();
		if (!("holder" in joined)) {
			const { store } = options;
			if ("instance" in joined) warnOfOther(options, joined.otherCommand);
			return { config: named, membership, joined, isReturning, store };
		}
		// Another agent of this host was faster. A lease that cannot be ended expires, and holds nothing.
		await membership.close().catch(() => {});
	}
}

/** A user who names the run may intend it. */
function warnOfOther(
	{ config, log }: EnterRunOptions,
	otherCommand: readonly string[],
): void {
	if (otherCommand.length === 0) return;
	log.warn(
		`this agent runs something else than the run's agents of the role ${config.role}: ${otherCommand.join("; ")}; if another run was meant, give another --run-id, and if these are two kinds of workers, give each a --role`,
	);
}

/** The given id, or the first free one derived from the host's name. */
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
			decodeNode(entry),
		]);
	return new Map(records);
}

function openMembership(
	options: EnterRunOptions,
	config: NodeConfig,
	self: Pick<NodeRecord, "hostId" | "pid" | "startTime"> &
		Pick<MembershipOptions, "isDead">,
	command: RunCommand,
): Membership {
	const { store, clock, random, incarnation, listener } = options;
	const { isDead, ...process } = self;
	const membership = new Membership({
		...listener,
		store,
		clock,
		random,
		runId: config.runId,
		identity: {
			...process,
			nodeId: config.nodeId,
			incarnation,
			address: config.localAddr,
			localWorldSize: config.nprocPerNode,
			role: config.role,
			...(config.nodeRank !== undefined && { nodeRank: config.nodeRank }),
		},
		spec: runSpec(config),
		isDead,
		isNodeIdTentative: config.isNodeIdDerived,
		command: {
			command,
			role: config.role,
			mustAgree: !config.isRunIdGiven,
		},
	});
	options.onMembership(membership);
	return membership;
}
