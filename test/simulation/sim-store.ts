import { ElasticRunError } from "../../src/base/errors.js";
import { readSnapshot } from "../../src/store/etcd/codec.js";
import type {
	Compare,
	Lease,
	LeaseEvents,
	LeaseId,
	OnHint,
	ReadBack,
	Snapshot,
	Store,
	TransactionResult,
	Watch,
	Write,
} from "../../src/store/store.js";
import { answerRanges } from "./etcd-ranges.js";
import type { StoreCall } from "./history.js";
import { type Link, SLOWEST_WAY_MS } from "./link.js";
import type { Random } from "./random.js";
import type { SimEtcd } from "./sim-etcd.js";
import { SimLease } from "./sim-lease.js";
import type { SimProcess } from "./sim-process.js";
import { SimWatches } from "./sim-watches.js";
import { QUIET, type Timeline } from "./timeline.js";

/** A call that gets no answer fails after this time. */
const CALL_TIMEOUT_MS = 1_000;
/** What becomes of a request to whose sender nothing but a failure is told. */
const FATES = ["never", "in time", "late"] as const;
/** How late a request may be carried out whose sender has perhaps given up. */
const LATEST_MS = 3_000;

/** What one process's way to the store goes through. */
export interface StorePlace {
	readonly etcd: SimEtcd;
	readonly timeline: Timeline;
	readonly random: Random;
	readonly process: SimProcess;
	readonly link: Link;
	/** Whether hints come twice at times. */
	readonly doublesHints: boolean;
}

/** How long a message takes at present. */
export function wayOf({ random, link }: StorePlace): number {
	return random.between(1, SLOWEST_WAY_MS) * link.slowness;
}

/** The store as one process reaches it: late, lossy, at times not at all. */
export class SimStore implements Store {
	private readonly watches: SimWatches;

	constructor(private readonly place: StorePlace) {
		this.watches = new SimWatches(place);
	}

	async openLease(
		ttlMs: number,
		events: LeaseEvents,
		asOften = ttlMs,
	): Promise<Lease> {
		const { etcd, process } = this.place;
		const sent = process.stamp();
		const granted = await this.call("lease", () => etcd.grant(ttlMs));
		return new SimLease(this.place, { ...granted, asOften }, sent, {
			...events,
			// What has made a keepalive get lost may have made the watches deaf.
			onMissed: () => this.watches.break(),
			revoke: () => this.endLease(granted.id),
		});
	}

	endLease(id: LeaseId): Promise<void> {
		const { etcd, process } = this.place;
		const { incarnation } = process.history;
		return this.call("lease", () => etcd.endLease(id, incarnation));
	}

	/** As the real store reads: what is known is not asked for again, and where that does not do, all is. */
	snapshot(selectors: readonly string[], known?: Snapshot): Promise<Snapshot> {
		const { etcd } = this.place;
		return readSnapshot(selectors, known, (request) =>
			this.call("look", () => answerRanges(etcd.data, request)),
		);
	}

	transaction(
		compares: readonly Compare[],
		writes: readonly Write[],
		reads?: ReadBack,
	): Promise<TransactionResult> {
		const { etcd, process } = this.place;
		const by = process.history.incarnation;
		return this.call("write", () =>
			etcd.transaction(by, compares, writes, reads),
		);
	}

	watch(
		selectors: readonly string[],
		afterRevision: number,
		onHint: OnHint,
	): Watch {
		return this.watches.add(selectors, afterRevision, onHint);
	}

	/** Its connection breaks, and comes back. */
	breakWatches(): void {
		this.watches.break();
	}

	async close(): Promise<void> {
		this.watches.close();
	}

	/** A request, what the server does with it, and its answer. */
	private call<Value>(
		kind: StoreCall["kind"],
		operation: () => Value,
	): Promise<Value> {
		const { timeline, process, link, etcd } = this.place;
		const { generation } = etcd;
		process.history.calls.push({ at: timeline.now, kind });
		const deadline = timeline.now + CALL_TIMEOUT_MS;
		return new Promise((resolve, reject) => {
			const tell = (settle: () => void, at: number) =>
				timeline.at(at, () => process.deliver(settle));
			const fail = (why: string, at: number) =>
				tell(() => reject(unreachable(why)), at);
			const answer = (settle: () => void) => {
				const at = timeline.now + wayOf(this.place);
				if (!link.answersLost && at <= deadline) tell(settle, at);
				else fail("no answer in time", deadline);
			};
			const carryOut = () => {
				try {
					const value = operation();
					answer(() => resolve(value));
				} catch (error) {
					answer(() => reject(error));
				}
			};
			timeline.after(wayOf(this.place), () => {
				// What was under way to a server that has ended meanwhile ended with it.
				if (etcd.generation !== generation) fail("connection reset", deadline);
				else {
					this.arrive(carryOut, operation, (why, isKnown) =>
						fail(why, isKnown ? timeline.now + wayOf(this.place) : deadline),
					);
				}
				return QUIET;
			});
		});
	}

	/** What comes of a request on its way to the server. */
	private arrive(
		carryOut: () => void,
		operation: () => unknown,
		fail: (why: string, isKnown: boolean) => void,
	): void {
		const { etcd, link, random } = this.place;
		if (link.requestsLost || random.chance(link.failing)) {
			const fate = link.late ? "late" : random.pick(FATES);
			if (!link.requestsLost) this.carryOutUnanswered(operation, fate);
			fail("no answer in time", false);
			return;
		}
		const reception = etcd.receive(carryOut);
		if (reception === "refused") fail("connection refused", true);
		// Where it goes on in time it answers as well, and the first answer counts.
		if (reception === "waits") fail("no answer in time", false);
	}

	private carryOutUnanswered(
		operation: () => unknown,
		fate: (typeof FATES)[number],
	): void {
		if (fate === "never") return;
		const { etcd, timeline, random } = this.place;
		const { generation } = etcd;
		const delayMs = fate === "late" ? random.between(0, LATEST_MS) : 0;
		timeline.after(delayMs, () => {
			if (etcd.generation === generation) {
				etcd.receive(() => attempt(operation));
			}
			return QUIET;
		});
	}
}

/** Nobody hears of its failure. */
function attempt(operation: () => unknown): void {
	try {
		operation();
	} catch (error) {
		if (!(error instanceof ElasticRunError)) throw error;
	}
}

function unreachable(why: string): ElasticRunError {
	return new ElasticRunError("STORE_UNREACHABLE", `the store: ${why}`);
}
