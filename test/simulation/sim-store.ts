import { ElasticRunError } from "../../src/errors.js";
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
import type { SimProcess } from "./sim-process.js";
import type { SimServer } from "./sim-server.js";

/** A call that gets no answer fails after this time. */
export const CALL_TIMEOUT_MS = 1_000;
/** The longest way of one message where nothing is disturbed. */
export const SLOWEST_WAY_MS = 60;
/** What becomes of a request to whose sender nothing but a failure is told. */
const FATES = ["never", "in time", "late"] as const;
/** How late a request may be carried out whose sender has perhaps given up. */
const LATEST_MS = 3_000;

/** One process's way to the store; the faults of a run change it for a time. */
export interface Link {
	/** Requests do not arrive. */
	requestsLost: boolean;
	/** Answers do not arrive; what was asked for may have been done. */
	answersLost: boolean;
	/** Watches tell nothing. */
	deaf: boolean;
	/** The part of calls that fail; they may be carried out all the same, even late. */
	failing: number;
	/** Those that fail are all carried out, late. */
	late: boolean;
	/** How many times as long a message takes. */
	slowness: number;
}

export function openLink(): Link {
	return {
		requestsLost: false,
		answersLost: false,
		deaf: false,
		failing: 0,
		late: false,
		slowness: 1,
	};
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
		const by = this.process.history.incarnation;
		return this.call(() => this.server.endLease(id, by));
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
				const fate = this.link.late ? "late" : random.pick(FATES);
				const carriesOut = fails ? fate : "in time";
				if (carriesOut === "never") return fail();
				if (carriesOut === "late") {
					timeline.after(random.between(0, LATEST_MS), () => {
						operation().catch(() => {});
					});
					return fail();
				}
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
