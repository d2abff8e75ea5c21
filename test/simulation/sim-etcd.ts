import type {
	Compare,
	Entry,
	LeaseId,
	ReadBack,
	Snapshot,
	TransactionResult,
	Write,
} from "../../src/store/store.js";
import { EtcdData } from "./etcd-data.js";
import type { Random } from "./random.js";
import { QUIET, type Timeline } from "./timeline.js";

/** How often the server looks for leases that have run out, in milliseconds. */
const LESSOR_LOOP_MS = 500;
/** The shortest time to live that the server grants, whatever is asked for, in milliseconds. */
export const SHORTEST_TTL_MS = 2_000;

interface ServerLease {
	readonly ttlMs: number;
	expiresAt: number;
}

/** What a copy of a cluster holds. */
export interface EtcdCopy {
	readonly data: Snapshot;
	readonly leases: ReadonlyMap<LeaseId, ServerLease>;
}

/** One process's stream of watch events. */
export interface WatchStream {
	/** These keys have changed. */
	hear(keys: readonly string[], revision: number): void;
	/** The connection, or the watches on it, are gone. */
	break(): void;
}

/** Told of what the server does, at the moment at which it does it. */
export interface ServerObserver {
	/** Before a transaction is tried; what is returned is told its result. */
	transaction(
		by: string,
		compares: readonly Compare[],
		writes: readonly Write[],
		data: EtcdData,
	): (succeeded: boolean) => void;
	/** A lease ends and takes these keys along; `by` is the process that asks for it, undefined where it lapses. */
	leaseEnds(id: LeaseId, by: string | undefined, held: readonly Entry[]): void;
}

/** What becomes of a request that reaches the server's machine. */
type Reception = "carried out" | "waits" | "refused";

/** An etcd cluster under one address: data, leases by its own time, and its bad hours. */
export class SimEtcd {
	data: EtcdData;
	/** Changes with each restart: what was under way to an earlier process of it is lost. */
	generation = 0;
	private state: "serves" | "hangs" | "is down" = "serves";
	private waiting: (() => void)[] = [];
	private readonly leases = new Map<LeaseId, ServerLease>();
	private readonly streams = new Set<WatchStream>();
	private readonly lessorPhaseMs: number;
	private leasesGranted = 0;

	constructor(
		private readonly timeline: Timeline,
		private readonly random: Random,
		private readonly observer: ServerObserver,
	) {
		this.lessorPhaseMs = random.between(0, LESSOR_LOOP_MS);
		this.data = this.emptyData();
	}

	get serves(): boolean {
		return this.state === "serves";
	}

	/** Carries a request out now, or when the server goes on. */
	receive(carryOut: () => void): Reception {
		if (this.state === "is down") return "refused";
		if (this.state === "serves") {
			carryOut();
			return "carried out";
		}
		this.waiting.push(carryOut);
		return "waits";
	}

	grant(askedTtlMs: number): { id: LeaseId; ttlMs: number } {
		this.leasesGranted += 1;
		const id = `lease-${this.leasesGranted}`;
		const ttlMs = Math.max(askedTtlMs, SHORTEST_TTL_MS);
		const lease = { ttlMs, expiresAt: this.timeline.now + ttlMs };
		this.leases.set(id, lease);
		this.lapseWhenDue(id, lease);
		return { id, ttlMs };
	}

	/** Returns whether the lease was still there. */
	renew(id: LeaseId): boolean {
		const lease = this.leases.get(id);
		if (lease === undefined) return false;
		lease.expiresAt = this.timeline.now + lease.ttlMs;
		return true;
	}

	endLease(id: LeaseId, by?: string): void {
		if (!this.leases.has(id)) return;
		const held = this.data.heldBy(id);
		this.leases.delete(id);
		this.observer.leaseEnds(id, by, held);
		this.data.delete(held.map(({ key }) => key));
	}

	transaction(
		by: string,
		compares: readonly Compare[],
		writes: readonly Write[],
		reads?: ReadBack,
	): TransactionResult {
		const tell = this.observer.transaction(by, compares, writes, this.data);
		const result = this.data.transaction(compares, writes, reads);
		tell(result.succeeded);
		return result;
	}

	listen(stream: WatchStream): () => void {
		this.streams.add(stream);
		return () => this.streams.delete(stream);
	}

	/** SIGSTOP, or a cluster that has lost its leader: requests wait. */
	hang(): void {
		this.state = "hangs";
	}

	/** Takes up what has waited, in any order with the leases that have run out meanwhile. */
	goOn(): void {
		this.state = "serves";
		const backlog = this.waiting;
		this.waiting = [];
		const lapse = () => this.lapseAll();
		const order = this.random.chance(0.5)
			? [lapse, ...backlog]
			: [...backlog, lapse];
		for (const item of order) item();
	}

	/** kill -9: connections break, requests are refused. */
	stop(): void {
		this.state = "is down";
		this.generation += 1;
		this.waiting = [];
		this.breakStreams();
	}

	/** A new process, or a new leader, gives every lease its whole time once more. */
	extendLeases(): void {
		const { now } = this.timeline;
		for (const lease of this.leases.values()) {
			lease.expiresAt = now + lease.ttlMs;
		}
	}

	start(): void {
		this.state = "serves";
		this.extendLeases();
	}

	/** A new cluster under the old address: no keys, no leases, revisions from 1 on. */
	startEmpty(): void {
		this.leases.clear();
		this.data = this.emptyData();
		this.state = "serves";
	}

	copy(): EtcdCopy {
		return { data: this.data.snapshot(["/"]), leases: new Map(this.leases) };
	}

	/** A new cluster under the old address, set up from a copy. */
	startFrom({ data, leases }: EtcdCopy): void {
		this.startEmpty();
		this.data.load(data);
		for (const [id, { ttlMs }] of leases) {
			const lease = { ttlMs, expiresAt: this.timeline.now + ttlMs };
			this.leases.set(id, lease);
			this.lapseWhenDue(id, lease);
		}
	}

	/** What compaction does to watches that are behind, and a reset to all of them. */
	breakStreams(): void {
		for (const stream of this.streams) stream.break();
	}

	private emptyData(): EtcdData {
		return new EtcdData(
			(id) => this.leases.has(id),
			(keys, revision) => {
				for (const stream of this.streams) stream.hear(keys, revision);
			},
		);
	}

	/** Looks at each turn of the lessor's loop at which the lease might have run out. */
	private lapseWhenDue(id: LeaseId, lease: ServerLease): void {
		const { timeline } = this;
		const phase = this.lessorPhaseMs;
		const earliest = Math.max(lease.expiresAt, timeline.now + 1);
		const turn = Math.ceil((earliest - phase) / LESSOR_LOOP_MS);
		timeline.at(turn * LESSOR_LOOP_MS + phase, () => {
			if (this.leases.get(id) !== lease) return QUIET;
			if (this.serves && lease.expiresAt <= timeline.now) this.endLease(id);
			else this.lapseWhenDue(id, lease);
			return QUIET;
		});
	}

	private lapseAll(): void {
		const { now } = this.timeline;
		for (const [id, { expiresAt }] of [...this.leases]) {
			if (expiresAt <= now) this.endLease(id);
		}
	}
}
