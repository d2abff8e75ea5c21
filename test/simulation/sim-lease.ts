import type { Lease, LeaseEvents, LeaseId } from "../../src/store/store.js";
import type { Stamp } from "./sim-process.js";
import { type StorePlace, wayOf } from "./sim-store.js";
import { QUIET } from "./timeline.js";

/** How often a lease is kept alive, and how long an answer may take, as parts of a time to live. */
const KEEPALIVE_PART = 1 / 5;
const DEADLINE_PART = 1 / 6;
/** The wait after a keepalive that was not answered, in milliseconds. */
const RETRY_MS = { least: 50, most: 100 };

interface SimLeaseEvents extends LeaseEvents {
	/** A keepalive was not answered in time. */
	readonly onMissed: () => void;
	readonly revoke: () => Promise<void>;
}

/** A lease that its process keeps alive, one message each time. */
export class SimLease implements Lease {
	readonly id: LeaseId;
	readonly ttlMs: number;
	readonly answeredInMs = 0;
	private readonly everyMs: number;
	private ended = false;
	private cancelTimer: () => void = () => {};

	/** @param acknowledged when the last message was sent that the store has acknowledged */
	constructor(
		private readonly place: StorePlace,
		granted: {
			readonly id: LeaseId;
			readonly ttlMs: number;
			readonly asOften: number;
		},
		private acknowledged: Stamp,
		private readonly events: SimLeaseEvents,
	) {
		this.id = granted.id;
		this.ttlMs = granted.ttlMs;
		this.everyMs = granted.asOften * KEEPALIVE_PART;
		this.sendAt(acknowledged.now + this.everyMs);
	}

	/** A machine that slept has a steady clock that knows nothing of it; its wall clock does. */
	get expiresAt(): number {
		const { now, wallTime } = this.place.process.stamp();
		const sent = this.acknowledged;
		const sleptMs = wallTime - sent.wallTime - (now - sent.now);
		return sent.now + this.ttlMs - Math.max(0, Math.round(sleptMs));
	}

	async revoke(): Promise<void> {
		this.end();
		await this.events.revoke();
	}

	private end(): void {
		this.ended = true;
		this.cancelTimer();
	}

	private sendAt(at: number): void {
		this.cancelTimer = this.place.process.clock.wakeAt(at, () => {
			this.events.onKeepalive?.();
			this.send();
		});
	}

	private send(): void {
		const { timeline, etcd, link, random, process } = this.place;
		const sent = process.stamp();
		const deadline = timeline.now + this.ttlMs * DEADLINE_PART;
		let isAnswered = false;
		const renew = () => {
			const lives = etcd.renew(this.id);
			const at = timeline.now + wayOf(this.place);
			if (link.answersLost || at > deadline) return;
			isAnswered = true;
			timeline.at(at, () => this.onAnswer(lives, sent));
		};
		timeline.after(wayOf(this.place), () => {
			const isLost = link.requestsLost || random.chance(link.failing);
			if (!isLost) etcd.receive(renew);
			if (isAnswered) return QUIET;
			timeline.at(deadline, () => {
				if (!isAnswered) process.deliver(() => this.onMissed());
				return QUIET;
			});
			return QUIET;
		});
	}

	private onAnswer(lives: boolean, sent: Stamp): unknown {
		const { process } = this.place;
		if (!lives) {
			process.deliver(() => this.onEnded());
			return undefined;
		}
		process.deliver(() => {
			if (this.ended) return;
			this.acknowledged = sent;
			this.sendAt(sent.now + this.everyMs);
		});
		return QUIET;
	}

	private onEnded(): void {
		if (this.ended) return;
		this.end();
		this.events.onLost("the store has ended its lease");
	}

	private onMissed(): void {
		if (this.ended) return;
		this.events.onMissed();
		const { process, random } = this.place;
		const { least, most } = RETRY_MS;
		this.sendAt(process.clock.now() + random.between(least, most));
	}
}
