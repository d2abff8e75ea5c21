import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import type { Clock } from "../../base/clock.js";
import { EXIT_CODES } from "../../base/errors.js";
import { within } from "../../base/within.js";
import { hostIdOf, isGone, ownIdentity } from "../../channel/index.js";
import {
	type AgentConfig,
	addressOf,
	chooseLocalAddress,
	externalAddresses,
	identifyCommand,
	isLoopback,
	type StoreConfig,
} from "../../config/index.js";
import type { RunCommand } from "../../model/index.js";
import {
	type JoinedRun,
	Membership,
	type MembershipOptions,
	type NodeRecord,
	type PreflightRecord,
} from "../../rendezvous/index.js";
import type { Store } from "../../store/index.js";
import { type Ending, leftWith } from "../machine/state.js";
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

/** How long to wait for names to resolve, in milliseconds. */
const PATIENCE_MS = 3_000;

/** A complete configuration: the values that depend on the store or the route to it are set. */
export type NodeConfig = AgentConfig & { readonly localAddr: string };

export interface EnterRunOptions
	extends ChooseOptions,
		Pick<PreflightOptions, "stop"> {
	/** Names this process. */
	readonly incarnation: string;
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
	/** The store of the run's state. */
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
	const { config, clock } = options;
	const own = ownIdentity();
	const hostId = hostIdOf(own);
	const isDead = (holder: NodeRecord) =>
		hostId !== "" && holder.hostId === hostId && isGone(holder);
	const process = { hostId, pid: own.pid, startTime: own.startTime };
	const { typed, cwd } = config.command;
	const command = await identifyCommand(typed, cwd);
	let preflight: PreflightRecord | undefined;
	for (;;) {
		const { nodeId, isReturning, succeeds } = await chooseNodeId(
			options,
			isDead,
		);
		// The store has answered, so names that lead to it can be resolved.
		const localAddr =
			config.localAddr ?? (await detectLocalAddress(config, clock));
		const named: NodeConfig = { ...config, localAddr, nodeId };
		refuseAborted(options);
		preflight ??= await passPreflight(named, options);
		refuseAborted(options);
		if (preflight?.verdict === "failed") {
			await publishPreflight(preflight, named, options);
			const reason = `this node does not join, its preflight failed: ${preflight.findings.join("; ")}`;
			const keptOut = leftWith(EXIT_CODES.replaceNode, reason);
			return { config: named, keptOut };
		}
		const self = { ...process, succeeds };
		const membership = openMembership(options, named, self);
		const joined = await membership.join({
			isDead,
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

function openMembership(
	options: EnterRunOptions,
	config: NodeConfig,
	self: Pick<NodeRecord, "hostId" | "pid" | "startTime" | "succeeds">,
): Membership {
	const { store, clock, random, incarnation, listener } = options;
	const { reservePort, ...coordinating } = listener;
	const membership = new Membership({
		reservePort,
		coordinating,
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

/** Finds the address by which other nodes reach this one: the local address of the route to the store. Sends only name queries. */
export async function detectLocalAddress(
	{ endpoints }: Pick<StoreConfig, "endpoints">,
	clock: Clock,
): Promise<string> {
	const addresses = endpoints.map(addressOf);
	const isStoreLocal = addresses.every(({ host }) => isLoopback(host));
	const toStore = isStoreLocal
		? undefined
		: await within(clock, PATIENCE_MS, firstRoute(addresses));
	const external = externalAddresses();
	return chooseLocalAddress(isStoreLocal, { toStore, external });
}

async function firstRoute(
	addresses: readonly { readonly host: string; readonly port: number }[],
): Promise<string | undefined> {
	for (const { host, port } of addresses) {
		const route = await routeTo(host, port).catch(() => undefined);
		if (route !== undefined) return route;
	}
	return undefined;
}

/** The system chooses a route, and with it a local address, for a UDP socket with a destination. No packet is sent. */
async function routeTo(host: string, port: number): Promise<string> {
	const { address, family } = await lookup(host);
	const socket = createSocket(family === 6 ? "udp6" : "udp4");
	try {
		await new Promise<void>((resolve, reject) => {
			socket.once("error", reject).once("connect", resolve);
			socket.connect(port, address);
		});
		return socket.address().address;
	} finally {
		socket.close();
	}
}
