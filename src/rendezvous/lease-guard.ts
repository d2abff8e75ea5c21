import type { Clock } from "../clock.js";
import type { Lease } from "./store.js";

/** From this part of the time to live on, the others may soon go on without this agent. */
const SUSPECT_AT = 0.8;
/** By this part of it its workers must be dead. */
const FENCE_AT = 0.95;

/** Told why the lease cannot be relied on any more, and by when the workers must be dead. */
export type OnLeaseLost = (reason: string, fenceAt: number) => void;

/**
 * An agent's own deadline for its lease. It trusts no store to say in time that
 * a lease is lost: what counts is when the last keepalive that was acknowledged
 * had been sent.
 */
export class LeaseGuard {
	private cancelTimer: () => void = () => {};
	private over = false;

	constructor(
		private readonly clock: Clock,
		private readonly lease: Lease,
		private readonly onLost: OnLeaseLost,
	) {}

	/**
	 * Returns whether the lease can be relied on, and tells of its loss where it
	 * cannot. To be called before an answer of the store is acted on, because a
	 * process that was frozen may get answers before its timers.
	 */
	check(): boolean {
		if (this.over) return false;
		if (this.clock.now() < this.partOf(SUSPECT_AT)) {
			this.arm();
			return true;
		}
		this.lose(
			`no keepalive was acknowledged for ${SUSPECT_AT} of the lease's ${this.lease.ttlMs} ms`,
			this.partOf(FENCE_AT),
		);
		return false;
	}

	/** The lease has ended, as the store says or shows. */
	lose(reason: string, fenceAt = this.clock.now()): void {
		if (this.over) return;
		this.close();
		this.onLost(reason, fenceAt);
	}

	close(): void {
		this.over = true;
		this.cancelTimer();
	}

	private arm(): void {
		this.cancelTimer();
		const suspectAt = this.partOf(SUSPECT_AT);
		if (suspectAt === Number.POSITIVE_INFINITY) return;
		this.cancelTimer = this.clock.wakeAt(suspectAt, () => this.check());
	}

	private partOf(part: number): number {
		const { expiresAt, ttlMs } = this.lease;
		return expiresAt - (1 - part) * ttlMs;
	}
}
