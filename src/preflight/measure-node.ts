import { statfs } from "node:fs/promises";
import type { Clock } from "../base/clock.js";
import type { StoreConfig } from "../config/agent-config.js";
import type { NodeRecord } from "../rendezvous/records/records.js";
import { askClock } from "./ask-clock.js";
import type { NodeMeasures } from "./judge-node.js";
import { measureSpeeds } from "./measure-speeds.js";
import { unreachablePeers } from "./reach-peers.js";

export interface MeasureOptions {
	readonly clock: Clock;
	/** Where logs and checkpoints of this node go. */
	readonly directory: string;
	/** Names this process. */
	readonly incarnation: string;
	readonly store: Pick<StoreConfig, "endpoints" | "credentials">;
	/** The run's other nodes. */
	readonly peers: readonly NodeRecord[];
}

/** Takes less than a second. */
export async function measureNode({
	clock,
	directory,
	incarnation,
	store,
	peers,
}: MeasureOptions): Promise<NodeMeasures> {
	// The network's answers must not wait behind the processor's work.
	const [etcd, unreachable] = await Promise.all([
		askClock(store, clock),
		unreachablePeers(peers, clock),
	]);
	const free = await Promise.all(
		[directory, "/dev/shm"].map(async (path) => ({
			directory: path,
			bytes: await freeBytes(path),
		})),
	);
	const speeds = await measureSpeeds(directory, incarnation, clock);
	return { speeds, free, unreachable, ...(etcd && { clock: etcd }) };
}

async function freeBytes(directory: string): Promise<number | null> {
	try {
		const { bavail, bsize } = await statfs(directory);
		return bavail * bsize;
	} catch {
		return null;
	}
}
