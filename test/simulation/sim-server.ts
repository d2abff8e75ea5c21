import { RunKeys } from "../../src/rendezvous/keys.js";
import { MemoryStore } from "../../src/rendezvous/memory-store.js";
import {
	type CoordinatorRecord,
	decodeRecord,
	type NodeRecord,
	type RoundRecord,
	type Seat,
	type SeatRecord,
} from "../../src/rendezvous/records.js";
import type {
	Compare,
	Entry,
	LeaseId,
	Snapshot,
	TransactionResult,
	Write,
} from "../../src/rendezvous/store.js";
import type { History, ProcessHistory } from "./history.js";
import type { Random } from "./random.js";
import type { Timeline } from "./timeline.js";

/** How much later than its time to live the server may end a lease. */
const LATEST_LAPSE_MS = 500;

interface ServerLease {
	readonly ttlMs: number;
	cancelLapse: () => void;
}

/** The server behind all agents of a simulated run: a memory store whose leases lapse. */
export class SimServer {
	readonly keys: RunKeys;
	readonly data = new MemoryStore();
	private readonly leases = new Map<LeaseId, ServerLease>();

	constructor(
		readonly timeline: Timeline,
		readonly random: Random,
		readonly history: History,
		readonly say: (who: string, what: string) => void,
		runId: string,
	) {
		this.keys = new RunKeys(runId);
	}

	async grant(ttlMs: number): Promise<LeaseId> {
		const { id } = await this.data.openLease(ttlMs);
		this.leases.set(id, { ttlMs, cancelLapse: () => {} });
		this.renew(id);
		return id;
	}

	/** Returns whether the lease was still there. */
	renew(id: LeaseId): boolean {
		const lease = this.leases.get(id);
		if (lease === undefined) return false;
		lease.cancelLapse();
		const lag = this.random.between(0, LATEST_LAPSE_MS);
		lease.cancelLapse = this.timeline.after(
			lease.ttlMs + lag,
			() => void this.endLease(id),
		);
		return true;
	}

	dropCoordinator(): void {
		this.say("store", "the coordinator's key is deleted");
		void this.data.transaction([], [{ delete: this.keys.coordinator }]);
	}

	/** `by` is the process that asks for it; undefined where it lapses. */
	async endLease(id: LeaseId, by?: string): Promise<void> {
		this.leases.get(id)?.cancelLapse();
		if (!this.leases.delete(id)) return;
		const { entries } = await this.data.snapshot([this.keys.nodes]);
		for (const entry of entries.values()) {
			if (entry.lease !== id) continue;
			const holder = this.holderOf(entry);
			this.say("store", `the record of ${holder.nodeId} vanishes with ${id}`);
			holder.recordGone.push(this.timeline.now);
			this.noteIntrusion(by, holder);
		}
		await this.data.endLease(id);
	}

	async transaction(
		by: string,
		compares: readonly Compare[],
		writes: readonly Write[],
	): Promise<TransactionResult> {
		const before = await this.data.snapshot([this.keys.nodes, this.keys.round]);
		const result = await this.data.transaction(compares, writes);
		if (result.succeeded) this.noteRecords(by, writes, before);
		const roundWritten = writes.some(
			(write) => "put" in write && write.put === this.keys.round,
		);
		if (result.succeeded && roundWritten) {
			this.observe(by, await this.data.snapshot([this.keys.prefix]));
		}
		return result;
	}

	private holderOf(entry: Entry): ProcessHistory {
		return this.process(decodeRecord<NodeRecord>(entry).incarnation);
	}

	private process(incarnation: string): ProcessHistory {
		const found = this.history.processes.find(
			(process) => process.incarnation === incarnation,
		);
		if (found === undefined) throw new Error(`nobody is ${incarnation}`);
		return found;
	}

	/** Whose records these writes make or change. */
	private noteRecords(
		by: string,
		writes: readonly Write[],
		before: Snapshot,
	): void {
		for (const write of writes) {
			if (!("put" in write) || !write.put.startsWith(this.keys.nodes)) continue;
			const entry = before.entries.get(write.put);
			const { recordMade, lossesTold } = this.process(by);
			// What is said again under a new lease may be out of date, and is then mended.
			if (lossesTold.length === 0) {
				this.noteClaim(by, write.value, before.entries.get(this.keys.round));
			}
			if (entry) this.noteIntrusion(by, this.holderOf(entry));
			else recordMade.push(this.timeline.now);
		}
	}

	private noteClaim(by: string, value: string, round?: Entry): void {
		if (round === undefined) return;
		const { claim, state, instance }: NodeRecord = JSON.parse(value);
		const now = decodeRecord<RoundRecord>(round);
		const isStale = instance === now.instance && claim <= now.synced;
		if (state !== "ready" || !isStale) return;
		const at = this.timeline.now;
		this.history.staleClaims.push({ at, by, claim, synced: now.synced });
	}

	private noteIntrusion(by: string | undefined, of: ProcessHistory): void {
		if (by === undefined || by === of.incarnation) return;
		this.history.intrusions.push({ at: this.timeline.now, by, of });
	}

	private observe(by: string, { revision, entries }: Snapshot): void {
		const { keys } = this;
		const roundEntry = entries.get(keys.round);
		if (roundEntry === undefined) return;
		const round = decodeRecord<RoundRecord>(roundEntry);
		const coordinator = entries.get(keys.coordinator);
		const seats = new Map<string, SeatRecord>();
		const nodes = new Map<string, NodeRecord>();
		for (const [key, entry] of entries) {
			if (key.startsWith(keys.seats)) {
				const seat = decodeRecord<Seat>(entry);
				if ("planId" in seat && seat.planId === round.planId) {
					seats.set(key.slice(keys.seats.length), seat);
				}
			} else if (key.startsWith(keys.nodes)) {
				nodes.set(
					key.slice(keys.nodes.length),
					decodeRecord<NodeRecord>(entry),
				);
			}
		}
		this.history.commits.push({
			at: this.timeline.now,
			revision,
			round,
			by,
			coordinator: coordinator
				? decodeRecord<CoordinatorRecord>(coordinator).incarnation
				: null,
			seats,
			nodes,
		});
		const ending = round.outcome ? `, outcome ${round.outcome.result}` : "";
		this.say(
			"store",
			`round: synced ${round.synced}, deprecated ${round.deprecated}, incidents ${round.incidents}${ending}`,
		);
	}
}
