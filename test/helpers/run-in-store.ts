import type { HistoryRecord } from "../../src/rendezvous/records/history-record.js";
import { RunKeys } from "../../src/rendezvous/records/keys.js";
import type {
	CoordinatorRecord,
	NodeRecord,
	RoundRecord,
} from "../../src/rendezvous/records/records.js";
import { type EtcdApi, etcdGet, etcdRange, leaseRevoke } from "./etcd.js";
import { poll } from "./etcd-gateway.js";

const BOUND_MS = 60_000;

/** What a run's keys say, read independently of the project's own store. */
export class RunInStore {
	readonly keys: RunKeys;

	constructor(
		private readonly etcd: EtcdApi,
		readonly runId: string,
	) {
		this.keys = new RunKeys(runId);
	}

	/** Undefined before there is one. */
	round(): Promise<RoundRecord | undefined> {
		return this.read<RoundRecord>(this.keys.round);
	}

	node(nodeId: string): Promise<NodeRecord | undefined> {
		return this.read<NodeRecord>(this.keys.node(nodeId));
	}

	/** The node id of who coordinates. */
	async coordinator(): Promise<string | undefined> {
		const { keys } = this;
		return (await this.read<CoordinatorRecord>(keys.coordinator))?.nodeId;
	}

	/** The oldest line first. */
	async history(): Promise<readonly HistoryRecord[]> {
		const entries = await etcdRange(this.etcd, this.keys.history);
		return entries.map(({ value }): HistoryRecord => JSON.parse(value));
	}

	/** Waits until the run is where it is wanted. */
	sawRound(
		what: string,
		isIt: (round: RoundRecord) => boolean,
	): Promise<RoundRecord> {
		return poll(what, BOUND_MS, async () => {
			const round = await this.round();
			return round !== undefined && isIt(round) ? round : undefined;
		});
	}

	/** Waits for a round's barrier to lift; its members in the order of their ranks. */
	async sawMembers(round: number): Promise<readonly string[]> {
		const lines = await poll(`round ${round}`, BOUND_MS, async () => {
			const told = await this.history();
			return told.some((line) => line.round === round) ? told : undefined;
		});
		return lines.find((line) => line.round === round)?.members ?? [];
	}

	/** Waits until an agent says that it is in this state, and claims this round, if one is given. */
	sawNode(
		nodeId: string,
		state: NodeRecord["state"],
		claim?: number,
	): Promise<NodeRecord> {
		return poll(`${nodeId} to be ${state}`, BOUND_MS, async () => {
			const record = await this.node(nodeId);
			const isThere = record?.state === state;
			return isThere && record.claim === (claim ?? record.claim)
				? record
				: undefined;
		});
	}

	/** Waits until an agent has left its run, or its lease has ended. */
	sawNoNode(nodeId: string): Promise<true> {
		return poll(`${nodeId} to be gone`, BOUND_MS, async () =>
			(await this.node(nodeId)) === undefined ? true : undefined,
		);
	}

	/** Ends a node's lease, as if its time were over. */
	async endLease(nodeId: string): Promise<void> {
		const entry = await etcdGet(this.etcd, this.keys.node(nodeId));
		if (entry?.lease === undefined) throw new Error(`${nodeId} has no lease`);
		await leaseRevoke(this.etcd, entry.lease);
	}

	private async read<Record>(key: string): Promise<Record | undefined> {
		const entry = await etcdGet(this.etcd, key);
		return entry && JSON.parse(entry.value);
	}
}
