import { once } from "node:events";
import { connect } from "node:net";
import { messageOf, systemErrorCode } from "../../base/errors.js";
import type { Logger } from "../../base/logger.js";
import {
	type AgentConfig,
	externalAddresses,
	isLoopback,
} from "../../config/index.js";
import {
	COORDINATOR,
	decodeNode,
	type NodeRecord,
	RunKeys,
	recordAt,
} from "../../rendezvous/index.js";
import type { Store } from "../../store/index.js";

/** More than any network needs; a packet that is dropped gets no answer at all. */
const ANSWER_WITHIN_MS = 5_000;
/** Where nothing listens, a machine that can be reached refuses at once. */
const DISCARD_PORT = 9;

type Peer = Pick<NodeRecord, "hostId" | "address">;

interface Self {
	readonly nodeId: string;
	readonly hostId: string;
	readonly localAddr: string;
}

/**
 * Why a peer's address is of no use here; undefined if it may be.
 * @param own this machine's addresses
 * @param answer how the peer's port answered: a system's code, or undefined if it did
 */
export function addressProblem(
	{ hostId, address }: Peer,
	self: Self,
	own: readonly string[],
	answer: string | undefined,
): string | undefined {
	const isElsewhere = hostId === "" || hostId !== self.hostId;
	if (isElsewhere && address !== self.localAddr) {
		if (isLoopback(address)) return "means this machine here";
		if (own.includes(address)) return "is one of this machine's own here";
	}
	if (answer === undefined || answer === "ECONNREFUSED") return undefined;
	return `did not answer here (${answer})`;
}

/**
 * Tries the address of the first node that is there, which usually gets rank 0, and says so if workers here could not
 * reach it. Once workers run, a strange connection could disturb them, and it is left alone. Reads little, however large
 * the run is. Resolves with whether it tries one; the answer comes later. Never rejects.
 */
export async function tryFirstPeer(
	{
		config,
		store,
		log,
	}: {
		readonly config: Pick<AgentConfig, "runId" | "maxNodes">;
		readonly store: Pick<Store, "snapshot">;
		readonly log: Pick<Logger, "warn">;
	},
	self: Self,
): Promise<boolean> {
	if (config.maxNodes === 1) return false;
	const peer = await firstPeer(config.runId, self, store).catch(() => {});
	if (!peer || peer.state === "running") return false;
	void answerOf(peer).then((answer) => {
		const problem = addressProblem(peer, self, externalAddresses(), answer);
		if (problem === undefined) return;
		log.warn(
			`${peer.nodeId} gives ${peer.address} as its address, which ${problem}: workers here cannot meet there if it gets rank 0; start it with --local-addr and an address that other machines reach`,
		);
	});
	return true;
}

async function firstPeer(
	runId: string,
	self: Self,
	store: Pick<Store, "snapshot">,
): Promise<NodeRecord | undefined> {
	const keys = new RunKeys(runId);
	const leader = await store.snapshot([keys.coordinator]);
	const { nodeId } = recordAt(COORDINATOR, leader, keys.coordinator) ?? self;
	if (nodeId === self.nodeId) return undefined;
	const { entries } = await store.snapshot([keys.node(nodeId)]);
	return [...entries.values()].map(decodeNode)[0];
}

async function answerOf({
	address,
	masterPort,
}: NodeRecord): Promise<string | undefined> {
	const port = masterPort || DISCARD_PORT;
	const socket = connect({ host: address, port }).unref();
	try {
		await once(socket, "connect", {
			signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
		});
		return undefined;
	} catch (error) {
		const isLate = error instanceof Error && error.name === "AbortError";
		if (isLate) return `within ${ANSWER_WITHIN_MS / 1_000} s`;
		return systemErrorCode(error) ?? messageOf(error);
	} finally {
		socket.destroy();
	}
}
