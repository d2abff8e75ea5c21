import type { Clock } from "../../src/base/clock.js";
import { ElasticRunError } from "../../src/base/errors.js";
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

/** One agent's way to the store that all agents of a script share: it can be cut and mended. */
export class ScriptedStore implements Store {
	private cutAt: number | undefined;
	private readonly held = new Map<LeaseId, number>();
	private cancelLapses: (() => void)[] = [];

	constructor(
		private readonly shared: Store,
		private readonly clock: Clock,
	) {}

	/** From now on no call is answered; leases lapse when their time to live is over. */
	cut(): void {
		const now = this.clock.now();
		this.cutAt = now;
		this.cancelLapses = [...this.held].map(([id, ttlMs]) =>
			this.clock.wakeAt(now + ttlMs, () => void this.shared.endLease(id)),
		);
	}

	mend(): void {
		this.cutAt = undefined;
		for (const cancel of this.cancelLapses) cancel();
	}

	async openLease(ttlMs: number, events: LeaseEvents): Promise<Lease> {
		this.refuseCut();
		const lease = await this.shared.openLease(ttlMs, events);
		this.held.set(lease.id, ttlMs);
		const now = () => this.cutAt ?? this.clock.now();
		return {
			...lease,
			get expiresAt() {
				return now() + ttlMs;
			},
			revoke: () => this.endLease(lease.id),
		};
	}

	async endLease(id: LeaseId): Promise<void> {
		this.refuseCut();
		await this.shared.endLease(id);
	}

	async snapshot(selectors: readonly string[]): Promise<Snapshot> {
		this.refuseCut();
		return this.shared.snapshot(selectors);
	}

	async transaction(
		compares: readonly Compare[],
		writes: readonly Write[],
		reads?: ReadBack,
	): Promise<TransactionResult> {
		this.refuseCut();
		return this.shared.transaction(compares, writes, reads);
	}

	watch(
		selectors: readonly string[],
		afterRevision: number,
		onHint: OnHint,
	): Watch {
		return this.shared.watch(selectors, afterRevision, (revision) => {
			if (this.cutAt === undefined) onHint(revision);
		});
	}

	async close(): Promise<void> {}

	private refuseCut(): void {
		if (this.cutAt === undefined) return;
		throw new ElasticRunError("STORE_UNREACHABLE", "the store does not answer");
	}
}
