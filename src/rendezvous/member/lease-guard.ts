import type { Clock } from "../../base/clock.js";
import { formatDuration } from "../../base/units.js";
import type { Lease } from "../../store/index.js";

/** After this fraction of the time to live, the others may soon continue without this agent. */
const SUSPECT_AT = 0.8;
/** After this fraction its workers must be dead. */
const FENCE_AT = 0.95;

/** Called with why the lease is no longer reliable, and by when the workers must be dead. */
export type OnLeaseLost = (reason: string, fenceAt: number) => void;

/**
 * An agent's own deadline for its lease. It does not rely on the store to report a lost lease in time: it counts from
 * when the last acknowledged keepalive was sent.
 */
export class LeaseGuard {
	private cancelTimer: () => void = () => {};
	private over = false;

	/**
	 * @param reliableUntil until when the members of the round confirm it to one another although the store is away
	 * @param onLook called before each decision
	 */
	constructor(
		private readonly clock: Clock,
		private readonly lease: Pick<Lease, "ttlMs" | "expiresAt">,
		private readonly onLost: OnLeaseLost,
		private readonly reliableUntil: () => number = () =>
			Number.NEGATIVE_INFINITY,
		private readonly onLook: () => void = () => {},
	) {}

	get isReliable(): boolean {
		return this.clock.now() < this.partOf(SUSPECT_AT);
	}

	/**
	 * Returns whether the lease is reliable, and reports its loss if not. Call it before acting on an answer of the store:
	 * a process that was frozen may get answers before its timers.
	 */
	check(): boolean {
		if (this.over) return false;
		this.onLook();
		if (this.isReliable) {
			this.arm();
			return true;
		}
		const { ttlMs } = this.lease;
		this.lose(
			`this node's lease was not confirmed for ${formatDuration(SUSPECT_AT * ttlMs)} of its ${formatDuration(ttlMs)}: the other nodes may go on without it`,
			this.partOf(FENCE_AT),
		);
		return false;
	}

	/** Call it when the store says or shows that the lease has ended. */
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
		const until = Math.max(expiresAt, this.reliableUntil());
		return until - (1 - part) * ttlMs;
	}
}
