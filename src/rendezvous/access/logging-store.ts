import { isUnreachable } from "../../base/back-off.js";
import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import type { Logger } from "../../base/logger.js";
import type {
	Compare,
	Lease,
	LeaseId,
	OnHint,
	ReadBack,
	Snapshot,
	Store,
	TransactionResult,
	Watch,
	Write,
} from "../../store/index.js";

/** A shorter outage, such as a change of a cluster's leader, which the next try survives, is not logged. */
const WORTH_TELLING_MS = 1_000;

/**
 * The agent's store, with logging. It logs once that the store is unreachable, and once that it is back, but nothing
 * before the first answer. It does the same for a store that allows reads and refuses writes, such as an etcd with a full
 * disk.
 */
export class LoggingStore implements Store {
	private wasReached = false;
	private failingSince: number | undefined;
	private isTold = false;
	private refusingSince: number | undefined;
	/** A read has succeeded since writes began to fail, so the connection is not the cause. */
	private isReadable = false;
	private isRefusalTold = false;

	constructor(
		private readonly store: Store,
		private readonly clock: Clock,
		private readonly log: Pick<Logger, "warn" | "info">,
	) {}

	openLease(...asked: Parameters<Store["openLease"]>): Promise<Lease> {
		return this.observeWrite(this.store.openLease(...asked));
	}

	endLease(id: LeaseId): Promise<void> {
		return this.observeWrite(this.store.endLease(id));
	}

	snapshot(selectors: readonly string[], known?: Snapshot): Promise<Snapshot> {
		return this.observeRead(this.store.snapshot(selectors, known));
	}

	transaction(
		compares: readonly Compare[],
		writes: readonly Write[],
		reads?: ReadBack,
	): Promise<TransactionResult> {
		return this.observeWrite(this.store.transaction(compares, writes, reads));
	}

	watch(
		selectors: readonly string[],
		afterRevision: number,
		onHint: OnHint,
	): Watch {
		return this.store.watch(selectors, afterRevision, onHint);
	}

	close(): Promise<void> {
		return this.store.close();
	}

	private observeRead<Value>(call: Promise<Value>): Promise<Value> {
		return this.observe(
			call,
			() => {
				this.isReadable = true;
			},
			(problem) => {
				this.failed(problem);
				this.refusingSince = undefined;
			},
		);
	}

	private observeWrite<Value>(call: Promise<Value>): Promise<Value> {
		return this.observe(
			call,
			() => this.accepted(),
			(problem) => {
				// What is known to answer is not lost.
				if (!this.isRefusalTold) this.failed(problem);
				this.refused(problem);
			},
		);
	}

	private async observe<Value>(
		call: Promise<Value>,
		onAnswer: () => void,
		onFailure: (problem: string) => void,
	): Promise<Value> {
		try {
			const value = await call;
			this.answered();
			onAnswer();
			return value;
		} catch (error) {
			if (isUnreachable(error)) onFailure(messageOf(error));
			throw error;
		}
	}

	private answered(): void {
		if (this.isTold && this.failingSince !== undefined) {
			const seconds = (this.clock.now() - this.failingSince) / 1000;
			this.log.info(`the store is back after ${seconds.toFixed(1)} s`);
		}
		this.wasReached = true;
		this.failingSince = undefined;
		this.isTold = false;
	}

	private failed(problem: string): void {
		if (!this.wasReached) return;
		const now = this.clock.now();
		this.failingSince ??= now;
		if (this.isTold || now - this.failingSince < WORTH_TELLING_MS) return;
		this.isTold = true;
		this.log.warn(`the store is lost, and is tried again: ${problem}`);
	}

	private accepted(): void {
		if (this.isRefusalTold) this.log.info("the store takes writes again");
		this.refusingSince = undefined;
		this.isRefusalTold = false;
	}

	private refused(problem: string): void {
		const now = this.clock.now();
		if (this.refusingSince === undefined) this.isReadable = false;
		this.refusingSince ??= now;
		if (!this.isReadable || this.isRefusalTold) return;
		if (now - this.refusingSince < WORTH_TELLING_MS) return;
		this.isRefusalTold = true;
		this.log.warn(
			`the store answers but takes no writes, which are tried again; until it does, this agent can tell the others nothing: ${problem}`,
		);
	}
}
