import { hostname } from "node:os";
import { EXIT_CODES } from "../../base/errors.js";
import {
	hostIdOf,
	machineIdOf,
	networkNamespace,
	ownIdentity,
} from "../../channel/index.js";
import {
	type AgentConfig,
	detectLocalAddress,
	glooInterface,
	identifyCommand,
} from "../../config/index.js";
import type { Links } from "../../links/index.js";
import type { LinkAddress, RunCommand } from "../../model/index.js";
import {
	type JoinedRun,
	Membership,
	type MembershipOptions,
	type NodeRecord,
	type PreflightRecord,
} from "../../rendezvous/index.js";
import type { Store } from "../../store/index.js";
import { type Ending, leftWith } from "../machine/state.js";
import { isCertainlyGone } from "./certainly-gone.js";
import {
	type ChooseOptions,
	chooseNodeId,
	refuseAborted,
} from "./choose-node-id.js";
import {
	type PreflightOptions,
	passPreflight,
	publishPreflight,
} from "./preflight.js";
import { roleTerms, runSpec } from "./run-spec.js";
import { tryFirstPeer } from "./try-peer.js";

/** A complete configuration: the values that depend on the store or the route to it are set. */
export type NodeConfig = AgentConfig & {
	readonly localAddr: string;
	/** Where the run's other agents can call it; undefined: nowhere. */
	readonly link: LinkAddress | undefined;
};

export interface EnterRunOptions
	extends ChooseOptions,
		Pick<PreflightOptions, "stop"> {
	/** Names this process. */
	readonly incarnation: string;
	readonly links: Links | undefined;
	readonly listener: Pick<MembershipOptions, "reservePort"> &
		MembershipOptions["coordinating"];
	/** Called with each membership before it joins, so that it can always be closed; the last one counts. */
	readonly onMembership: (membership: Membership) => void;
}

export interface EnteredRun {
	readonly config: NodeConfig;
	readonly membership: Membership;
	readonly joined: Exclude<JoinedRun, { holder: NodeRecord }>;
	/** The present plan has a seat for this node: it comes back, perhaps as another process. */
	readonly isReturning: boolean;
	readonly store: Store;
}

/** A node that did not pass its preflight. */
export interface KeptOut {
	readonly config: NodeConfig;
	readonly keptOut: Ending;
}

/**
 * Reaches the store, determines this node's name and address, and joins the run.
 * @throws ElasticRunError STORE_UNREACHABLE, RENDEZVOUS_FAILED; ABORTED if the launch was given up
 */
export async function enterRun(
	options: EnterRunOptions,
): Promise<EnteredRun | KeptOut> {
	const { config } = options;
	const process = ownProcess(options);
	const { hostId } = process;
	const { typed, cwd } = config.command;
	const command = await identifyCommand(typed, cwd);
	let preflight: PreflightRecord | undefined;
	for (;;) {
		const { nodeId, isReturning, succeeds } = await chooseNodeId(
			options,
			(holder) => isCertainlyGone(holder, { ...process, address: "" }),
		);
		const named = await nameNode(options, nodeId);
		refuseAborted(options);
		preflight ??= await passPreflight(named, options);
		refuseAborted(options);
		if (preflight?.verdict === "failed") {
			await publishPreflight(preflight, named, options);
			const reason = `this node does not join, its preflight failed: ${preflight.findings.join("; ")}`;
			const keptOut = leftWith(EXIT_CODES.replaceNode, reason);
			return { config: named, keptOut };
		}
		// Before this node takes part, the others' workers do not start.
		const isTried = await tryFirstPeer(options, { ...named, hostId });
		const self = { ...process, succeeds };
		const membership = openMembership(options, named, self);
		const { localAddr: address, link } = named;
		const here = { ...process, address, linkPort: link?.port };
		const joined = await membership.join({
			isDead: (other) => isCertainlyGone(other, here),
			isNodeIdTentative: named.isNodeIdDerived,
			command: ownCommand(command, named),
			onTurn: (why) => options.log.warn(why),
		});
		if (!("holder" in joined)) {
			const { store } = options;
			// The run goes on meanwhile.
			if (preflight) {
				void publishPreflight({ ...preflight, nodeId }, named, options);
			}
			if ("instance" in joined) {
				warnOfOther(options, joined.otherCommand);
				// Others may have come at the same time.
				if (!isTried) void tryFirstPeer(options, { ...named, hostId });
			}
			return { config: named, membership, joined, isReturning, store };
		}
		// Another agent of this host was faster. A lease that cannot be ended expires, and holds nothing.
		await membership.close().catch(() => {});
	}
}

/** This process, as others of its machine will know it. */
function ownProcess({ links }: Pick<EnterRunOptions, "links">) {
	const identity = ownIdentity();
	const { pid, startTime } = identity;
	const machineId = machineIdOf(identity);
	const network = links && networkNamespace();
	return {
		...{ hostId: hostIdOf(identity), pid, startTime },
		...(machineId !== "" && { machineId }),
		...(network !== "" && { network }),
	};
}

/** Adds what depends on the store and the route to it. The store has answered, so names that lead to it can be resolved. */
async function nameNode(
	options: EnterRunOptions,
	nodeId: string,
): Promise<NodeConfig> {
	const { config, clock } = options;
	const localAddr =
		config.localAddr ??
		(await detectLocalAddress(config, clock, awaitNetwork(options)));
	const gloo = await glooInterface(config, localAddr, hostname(), clock);
	const environment = { ...gloo, ...config.environment };
	const link = options.links?.addressAt(localAddr);
	return { ...config, localAddr, nodeId, environment, link };
}

/** Says once that the network is awaited. */
function awaitNetwork(options: EnterRunOptions): () => void {
	let isTold = false;
	return () => {
		refuseAborted(options);
		if (isTold) return;
		isTold = true;
		options.log.warn(
			"this machine has no address that others reach, and waits for its network; if all nodes are on this machine, give --local-addr 127.0.0.1",
		);
	};
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

function openMembership(
	options: EnterRunOptions,
	config: NodeConfig,
	self: ReturnType<typeof ownProcess> & Pick<NodeRecord, "succeeds">,
): Membership {
	const { store, clock, random, incarnation, listener, links, log } = options;
	const { reservePort, ...coordinating } = listener;
	const membership = new Membership({
		reservePort,
		coordinating,
		links: links?.exchange,
		onRide: (words) => log.warn(words),
		store,
		clock,
		random,
		runId: config.runId,
		identity: {
			...self,
			nodeId: config.nodeId,
			incarnation,
			address: config.localAddr,
			localWorldSize: config.nprocPerNode,
			role: config.role,
			terms: roleTerms(config),
			link: config.link,
			...(config.nodeRank !== undefined && { nodeRank: config.nodeRank }),
		},
		spec: runSpec(config),
	});
	options.onMembership(membership);
	return membership;
}

function ownCommand(command: RunCommand, config: NodeConfig) {
	return {
		command,
		role: config.role,
		mustAgree: !config.isRunIdGiven && config.meeting === undefined,
		takesTurns: config.meeting !== undefined,
	};
}
