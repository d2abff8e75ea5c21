import { ElasticRunError } from "../../src/errors.js";
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
	Lease,
	LeaseId,
	Snapshot,
	Store,
	TransactionResult,
	Watch,
	Write,
} from "../../src/rendezvous/store.js";
import type { History } from "./history.js";
import type { Random } from "./random.js";
import type { SimProcess } from "./sim-process.js";
import type { Timeline } from "./timeline.js";

/** A call that gets no answer fails after this time. */
export const CALL_TIMEOUT_MS = 1_000;
/** The longest way of one message where nothing is disturbed. */
export const SLOWEST_WAY_MS = 60;
/** How much later than its time to live the server may end a lease. */
const LATEST_LAPSE_MS = 500;

/** One process's way to the store; the faults of a run change it for a time. */
export interface Link {
	/** Requests do not arrive. */
	requestsLost: boolean;
	/** Answers do not arrive; what was asked for may have been done. */
	answersLost: boolean;
	/** Watches tell nothing. */
	deaf: boolean;
	/** The part of calls that fail, half of them after they were carried out. */
	failing: number;
	/** How many times as long a message takes. */
	slowness: number;
}

export function openLink(): Link {
	return {
		requestsLost: false,
		answersLost: false,
		deaf: false,
		failing: 0,
		slowness: 1,
	};
}

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

	async endLease(id: LeaseId): Promise<void> {
		this.leases.get(id)?.cancelLapse();
		if (!this.leases.delete(id)) return;
		const { entries } = await this.data.snapshot([this.keys.nodes]);
		for (const entry of entries.values()) {
			if (entry.lease !== id) continue;
			const { nodeId, incarnation } = decodeRecord<NodeRecord>(entry);
			this.say("store", `the record of ${nodeId} vanishes with ${id}`);
			this.history.processes
				.find((process) => process.incarnation === incarnation)
				?.recordGone.push(this.timeline.now);
		}
		await this.data.endLease(id);
	}

	async transaction(
		by: string,
		compares: readonly Compare[],
		writes: readonly Write[],
	): Promise<TransactionResult> {
		const result = await this.data.transaction(compares, writes);
		const roundWritten = writes.some(
			(write) => "put" in write && write.put === this.keys.round,
		);
		if (result.succeeded && roundWritten) {
			this.observe(by, await this.data.snapshot([this.keys.prefix]));
		}
		return result;
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

/** The store as one process reaches it: late, lossy, at times not at all. */
export class SimStore implements Store {
	constructor(
		private readonly server: SimServer,
		private readonly process: SimProcess,
		private readonly link: Link,
	) {}

	async openLease(
		ttlMs: number,
		onLost: (reason: string) => void,
	): Promise<Lease> {
		const sentAt = this.server.timeline.now;
		const id = await this.call(() => this.server.grant(ttlMs));
		return new SimLease(this, this.process, id, ttlMs, sentAt + ttlMs, onLost);
	}

	endLease(id: LeaseId): Promise<void> {
		return this.call(() => this.server.endLease(id));
	}

	/** Resolves with whether the lease was still there. */
	renew(id: LeaseId): Promise<boolean> {
		return this.call(async () => this.server.renew(id));
	}

	snapshot(selectors: readonly string[]): Promise<Snapshot> {
		return this.call(() => this.server.data.snapshot(selectors));
	}

	transaction(
		compares: readonly Compare[],
		writes: readonly Write[],
	): Promise<TransactionResult> {
		const by = this.process.history.incarnation;
		return this.call(() => this.server.transaction(by, compares, writes));
	}

	watch(
		selectors: readonly string[],
		afterRevision: number,
		onHint: () => void,
	): Watch {
		let closed = false;
		const hint = () => this.process.deliver(() => closed || onHint());
		const watch = this.server.data.watch(selectors, afterRevision, () => {
			if (this.link.deaf || this.link.answersLost) return;
			this.server.timeline.after(this.way(), hint);
			if (this.server.random.chance(0.1)) {
				this.server.timeline.after(this.way(), hint);
			}
		});
		return {
			close: () => {
				closed = true;
				watch.close();
			},
		};
	}

	async close(): Promise<void> {}

	private way(): number {
		return this.server.random.between(1, SLOWEST_WAY_MS) * this.link.slowness;
	}

	/** A request, what the server does with it, and its answer. */
	private call<Value>(operation: () => Promise<Value>): Promise<Value> {
		const { timeline, random } = this.server;
		return new Promise((resolve, reject) => {
			const answer = (settle: () => void, delayMs: number) =>
				timeline.after(delayMs, () => this.process.deliver(settle));
			const fail = () =>
				answer(
					() => reject(unreachable("no answer came in time")),
					CALL_TIMEOUT_MS,
				);
			const carryOut = async () => {
				if (this.link.requestsLost) return fail();
				const fails = random.chance(this.link.failing);
				if (fails && random.chance(0.5)) return fail();
				try {
					const value = await operation();
					if (fails || this.link.answersLost) return fail();
					return answer(() => resolve(value), this.way());
				} catch (error) {
					return answer(() => reject(error), this.way());
				}
			};
			timeline.after(this.way(), () => void carryOut());
		});
	}
}

/** A lease that its process keeps alive. */
class SimLease implements Lease {
	private ended = false;

	constructor(
		private readonly store: SimStore,
		private readonly process: SimProcess,
		readonly id: LeaseId,
		readonly ttlMs: number,
		public expiresAt: number,
		private readonly onLost: (reason: string) => void,
	) {
		this.renewAfter(ttlMs / 3);
	}

	async revoke(): Promise<void> {
		this.ended = true;
		await this.store.endLease(this.id);
	}

	private renewAfter(delayMs: number): void {
		const { clock } = this.process;
		clock.wakeAt(clock.now() + delayMs, () => {
			if (this.ended) return;
			const sentAt = clock.now();
			this.store.renew(this.id).then(
				(alive) => this.onAnswer(alive, sentAt),
				() => this.renewAfter(this.ttlMs / 12),
			);
		});
	}

	private onAnswer(alive: boolean, sentAt: number): void {
		if (this.ended) return;
		if (alive) {
			this.expiresAt = sentAt + this.ttlMs;
			this.renewAfter(this.ttlMs / 3);
		} else {
			this.ended = true;
			this.onLost("the store has ended its lease");
		}
	}
}

function unreachable(why: string): ElasticRunError {
	return new ElasticRunError("STORE_UNREACHABLE", `the store: ${why}`);
}
