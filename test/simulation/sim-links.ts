import type {
	LinkedAgent,
	RecordWrite,
	RecordWritten,
	RideMessage,
} from "../../src/model/index.js";
import type { RecordLinks } from "../../src/rendezvous/member/record-relay.js";
import type { RideLinks } from "../../src/rendezvous/member/ride.js";
import type { Random } from "./random.js";
import type { SimProcess } from "./sim-process.js";
import type { Timeline } from "./timeline.js";

/** Where no connection can be had, it is tried again, in milliseconds. */
const AGAIN_MS = 300;
/** How long a message takes: often little, sometimes very long. */
const SLOWEST_MS = { usual: 60, late: 6_000 };
const LATE_PART = 0.03;
const DOUBLED_PART = 0.05;
/** Some heads say of a record that they have written it, and have not. */
const LIES_PART = 0.02;
/** Some are behind a wall that lets the store through, but no links. */
const BLOCKED_PART = 0.04;

/** All links of a simulated run, and what is wrong with them. */
export class SimNetwork {
	readonly ends = new Map<string, SimLinks>();
	/** These reach only each other, and the others only the others. */
	split: ReadonlySet<SimLinks> = new Set();
	/** What the one says, the other does not hear. */
	readonly broken = new Map<SimLinks, SimLinks>();

	/**
	 * @param relayedFrom from so many nodes on they write their records together
	 * @param random of its own, so that a run without links is played as before
	 */
	constructor(
		readonly timeline: Timeline,
		readonly random: Random,
		readonly relayedFrom: number,
	) {}

	/** One message of one connection; it may be lost, late or doubled, and overtake others. */
	carry(from: SimLinks, to: SimLinks, arrive: () => void): void {
		const { random, timeline } = this;
		const isSplit = () =>
			this.split.has(from) !== this.split.has(to) ||
			this.broken.get(from) === to;
		if (from.isMute || to.isDeaf || isSplit()) return;
		const copies = random.chance(DOUBLED_PART) ? 2 : 1;
		for (let copy = 0; copy < copies; copy++) {
			const isLate = random.chance(LATE_PART);
			const most = isLate ? SLOWEST_MS.late : SLOWEST_MS.usual;
			timeline.after(random.between(1, most), () => {
				if (!to.isDeaf && !isSplit()) to.process.deliver(arrive);
			});
		}
	}
}

/** One agent's end of its links. */
export class SimLinks implements RideLinks, RecordLinks {
	/** What it says does not arrive; what others say does not. */
	isMute = false;
	isDeaf = false;
	private readonly isBlocked: boolean;
	knownFor: { plan: string; since: number } | undefined;
	readonly known = new Set<string>();
	private readonly callers = new Set<string>();
	private plan: string | undefined;
	private head: LinkedAgent | undefined;
	private isLinked = false;
	private take: (from: string, message: RideMessage) => void = () => {};
	private takeRecord: (from: LinkedAgent, write: RecordWrite) => void =
		() => {};
	private learn: (written: RecordWritten | undefined) => void = () => {};

	constructor(
		private readonly network: SimNetwork,
		readonly process: SimProcess,
		private readonly self: LinkedAgent,
	) {
		network.ends.set(self.incarnation, this);
		this.isBlocked = network.random.chance(BLOCKED_PART);
		this.mend();
	}

	listen(hear: (from: string, message: RideMessage) => void): void {
		this.take = hear;
	}

	follow(head: LinkedAgent | undefined): void {
		if (head?.incarnation === this.head?.incarnation) return;
		this.bye(false);
		this.knownFor = undefined;
		this.head = head;
		if (head && head.incarnation !== this.self.incarnation) this.call(head);
	}

	begin(plan: string): void {
		this.plan = plan;
		for (const incarnation of this.known) {
			if (!this.callers.has(incarnation)) this.known.delete(incarnation);
		}
		for (const incarnation of this.callers) this.announce(incarnation);
	}

	tellHead(message: RideMessage): void {
		if (this.isLinked && this.head) this.send(this.head.incarnation, message);
	}

	tell(incarnation: string, message: RideMessage): void {
		if (this.callers.has(incarnation)) this.send(incarnation, message);
	}

	onRecords(
		take: (from: LinkedAgent, write: RecordWrite) => void,
		learn: (written: RecordWritten | undefined) => void,
	): void {
		this.takeRecord = take;
		this.learn = learn;
	}

	askHead(write: RecordWrite): boolean {
		const to = this.head && this.network.ends.get(this.head.incarnation);
		if (to === undefined || !this.isLinked) return false;
		const { random } = this.network;
		const { number, round } = write;
		const lie = { number, revision: round + random.integer(1, 50) };
		if (random.chance(LIES_PART)) {
			this.network.carry(to, this, () => this.learn(lie));
		} else {
			this.network.carry(this, to, () => to.takeRecord(this.self, write));
		}
		return true;
	}

	answer(incarnation: string, written: RecordWritten): void {
		const to = this.network.ends.get(incarnation);
		if (to === undefined || !this.callers.has(incarnation)) return;
		this.network.carry(this, to, () => to.learn(written));
	}

	/** Nothing is wrong any more, but a wall around it. */
	mend(): void {
		this.isMute = this.isBlocked;
		this.isDeaf = this.isBlocked;
	}

	/** It leaves the run in order, or only its head. */
	bye(leaves = true): void {
		const to = this.head && this.network.ends.get(this.head.incarnation);
		if (to === undefined || !this.isLinked) return;
		this.isLinked = false;
		const { incarnation } = this.self;
		this.network.carry(this, to, () => {
			to.callers.delete(incarnation);
			if (leaves) to.known.delete(incarnation);
		});
	}

	/** A process of its own has ended or a connection was cut: its links are closed, and called again. */
	cut(): void {
		for (const end of this.network.ends.values()) {
			end.callers.delete(this.self.incarnation);
		}
		this.callers.clear();
		this.isLinked = false;
		this.learn(undefined);
		if (this.head && !this.process.dead) this.call(this.head);
	}

	private send(incarnation: string, message: RideMessage): void {
		const to = this.network.ends.get(incarnation);
		if (to === undefined) return;
		this.network.carry(this, to, () => to.take(this.self.incarnation, message));
	}

	private call(head: LinkedAgent): void {
		const { timeline } = this.network;
		const to = this.network.ends.get(head.incarnation);
		const isWanted = () =>
			this.head === head && !this.isLinked && !this.process.dead;
		if (!isWanted()) return;
		timeline.after(AGAIN_MS, () => {
			if (isWanted()) this.process.deliver(() => this.call(head));
		});
		if (to === undefined || to.process.dead) return;
		const { incarnation } = this.self;
		this.network.carry(this, to, () => {
			to.known.add(incarnation);
			to.callers.add(incarnation);
			this.network.carry(to, this, () => {
				if (this.head === head) this.isLinked = true;
			});
			to.announce(incarnation);
		});
	}

	private announce(incarnation: string): void {
		const { plan } = this;
		const to = this.network.ends.get(incarnation);
		if (to === undefined || plan === undefined) return;
		this.network.carry(this, to, () => {
			const isHead = to.head?.incarnation === this.self.incarnation;
			if (!isHead || to.knownFor?.plan === plan) return;
			to.knownFor = { plan, since: to.process.clock.now() };
		});
	}
}
