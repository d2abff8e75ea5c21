import { Exchange } from "../../src/links/exchange.js";
import { decode, LINK_MESSAGE, type Line } from "../../src/links/messages.js";
import type { Calls } from "../../src/links/peers.js";
import type { LinkedAgent } from "../../src/model/index.js";
import { speakersOf } from "../../src/rendezvous/planner/seats.js";
import type { RoundView } from "../../src/rendezvous/records/run-view.js";
import type { Random } from "./random.js";
import type { SimProcess } from "./sim-process.js";
import type { Timeline } from "./timeline.js";

/** Where no connection can be had, it is tried again; how often lines are looked at that carry nothing. In milliseconds. */
const AGAIN_MS = 300;
const LOOKS_EVERY_MS = 2_000;
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
	 * @param groupSize how many agents have one speaker
	 * @param random of its own, so that a run without links is played as before
	 */
	constructor(
		readonly timeline: Timeline,
		readonly random: Random,
		readonly relayedFrom: number,
		readonly groupSize: number,
		readonly decidedMs: number,
	) {}

	/** One message of one connection; it may be late or doubled, overtake others, or be lost: that ends the connection. */
	carry(
		from: SimLinks,
		to: SimLinks,
		arrive: () => void,
		onLost: () => void = () => {},
	): void {
		const { random, timeline } = this;
		const isSplit = () =>
			this.split.has(from) !== this.split.has(to) ||
			this.broken.get(from) === to;
		const lose = () =>
			timeline.after(random.between(500, this.decidedMs), onLost);
		if (from.isMute || to.isDeaf || isSplit()) {
			lose();
			return;
		}
		const copies = random.chance(DOUBLED_PART) ? 2 : 1;
		for (let copy = 0; copy < copies; copy++) {
			const isLate = random.chance(LATE_PART);
			const most = isLate ? SLOWEST_MS.late : SLOWEST_MS.usual;
			timeline.after(random.between(1, most), () => {
				if (!to.isDeaf && !isSplit()) to.process.deliver(arrive);
				else lose();
			});
		}
	}
}

/** One connection, and what each end of it hears. */
class Wire {
	isOpen = true;

	constructor(
		private readonly network: SimNetwork,
		readonly caller: SimLinks,
		readonly callee: SimLinks,
	) {}

	/** What the one end says. */
	line(from: SimLinks): Line {
		const isCaller = from === this.caller;
		const to = isCaller ? this.callee : this.caller;
		return {
			send: (message) => {
				const text = JSON.stringify(message);
				this.network.carry(
					from,
					to,
					() => {
						if (!this.isOpen) return;
						to.hear(this, decode(LINK_MESSAGE, JSON.parse(text)), isCaller);
					},
					() => this.close(),
				);
			},
			close: () => this.close(),
		};
	}

	/** Both ends see it, unless it is the one that hangs up. */
	close(by?: SimLinks): void {
		if (!this.isOpen) return;
		this.isOpen = false;
		for (const end of [this.caller, this.callee]) {
			if (end !== by) end.process.deliver(() => end.closed(this));
		}
	}
}

/** Some heads say that they have written what they have not. */
class LyingExchange extends Exchange {
	constructor(
		options: ConstructorParameters<typeof Exchange>[0],
		private readonly random: Random,
	) {
		super(options);
	}

	override onRecords(...[take, learn]: Parameters<Exchange["onRecords"]>) {
		super.onRecords((from, write) => {
			if (!this.random.chance(LIES_PART)) return take(from, write);
			const { number, round } = write;
			const revision = round + this.random.integer(1, 50);
			this.answer(from.incarnation, { number, revision });
		}, learn);
	}
}

/** One agent's end of its links: what it says is the real one, what carries it is not. */
export class SimLinks {
	/** What it says does not arrive; what others say does not. */
	isMute = false;
	isDeaf = false;
	readonly exchange: Exchange;
	private readonly isBlocked: boolean;
	/** Its ends of connections, which it has called by or was called by. */
	private readonly lines = new Map<Wire, Line>();
	private callee: LinkedAgent | undefined;
	private uplink: Wire | undefined;
	private tried: Wire | undefined;

	constructor(
		private readonly network: SimNetwork,
		readonly process: SimProcess,
		private readonly self: LinkedAgent,
	) {
		network.ends.set(self.incarnation, this);
		this.isBlocked = network.random.chance(BLOCKED_PART);
		this.exchange = new LyingExchange(
			{
				now: () => process.clock.now(),
				decidedMs: network.decidedMs,
				pingMs: LOOKS_EVERY_MS,
				call: (calls) => this.want(calls),
			},
			network.random,
		);
		this.mend();
		this.look();
	}

	/** @param members of the round, in the order of their ranks */
	follow({ round, seat }: RoundView, members: readonly LinkedAgent[]): void {
		const { groupSize } = this.network;
		const place = seat && "planId" in seat ? seat : null;
		const speakers =
			place?.planId === round.planId
				? speakersOf(members, place?.groupRank ?? 0, groupSize)
				: undefined;
		this.exchange.follow(this.self, round, place && { ...place, speakers });
	}

	/** Nothing is wrong any more, but a wall around it. */
	mend(): void {
		this.isMute = this.isBlocked;
		this.isDeaf = this.isBlocked;
	}

	/** It leaves the run in order. */
	bye(): void {
		this.exchange.leave();
		this.hangUp(true);
	}

	/** A process of its own has ended or a connection was cut: its links are closed, and called again. */
	cut(): void {
		for (const wire of [...this.lines.keys()]) wire.close();
	}

	hear(
		wire: Wire,
		message: Parameters<Exchange["hearCaller"]>[2],
		isFromCaller: boolean,
	): void {
		// It is known first.
		if (wire === this.tried) this.open(wire);
		const line = this.lines.get(wire);
		if (line === undefined) return;
		const { caller, callee } = wire;
		if (isFromCaller) this.exchange.hearCaller(caller.self, line, message);
		else this.exchange.hearCallee(callee.self, line, message);
	}

	closed(wire: Wire): void {
		const line = this.lines.get(wire);
		if (line === undefined) return;
		this.lines.delete(wire);
		if (wire.callee === this) {
			this.exchange.callerClosed(line);
			return;
		}
		const inOrder = this.uplink !== wire;
		if (!inOrder) this.uplink = undefined;
		this.exchange.calleeClosed(wire.callee.self, line, inOrder);
		if (!inOrder) this.call(this.callee);
	}

	private want({ agent }: Calls): void {
		if (agent?.incarnation === this.callee?.incarnation) return;
		this.hangUp(false);
		this.callee = agent;
		this.call(agent);
	}

	private hangUp(leaves: boolean): void {
		const { uplink } = this;
		this.tried?.close(this);
		this.tried = undefined;
		this.uplink = undefined;
		this.callee = undefined;
		if (uplink === undefined) return;
		const line = this.lines.get(uplink);
		line?.send({ kind: "bye", leaves });
		// What was said before arrives, if anything does.
		this.network.timeline.after(SLOWEST_MS.late, () => uplink.close());
	}

	private call(callee: LinkedAgent | undefined): void {
		const { network, process } = this;
		const to = network.ends.get(callee?.incarnation ?? "");
		const isWanted = () =>
			this.callee === callee && this.uplink === undefined && !process.dead;
		if (callee === undefined || !isWanted()) return;
		network.timeline.after(AGAIN_MS, () => {
			if (isWanted()) process.deliver(() => this.call(callee));
		});
		if (to === undefined || to.process.dead) {
			this.exchange.calleeFailed(callee);
			return;
		}
		this.tried?.close(this);
		const wire = new Wire(network, this, to);
		this.tried = wire;
		network.carry(this, to, () => {
			if (!wire.isOpen || to.lines.has(wire)) return;
			to.accept(wire);
			network.carry(to, this, () => {
				if (isWanted() && wire.isOpen) this.open(wire);
			});
		});
	}

	private open(wire: Wire): void {
		this.tried = undefined;
		this.uplink = wire;
		const line = wire.line(this);
		this.lines.set(wire, line);
		this.exchange.calleeOpened(wire.callee.self, line);
	}

	private accept(wire: Wire): void {
		const line = wire.line(this);
		this.lines.set(wire, line);
		this.exchange.callerOpened(wire.caller.self, line);
	}

	private readonly look = (): void => {
		if (this.process.dead) return;
		this.exchange.look();
		const { clock } = this.process;
		clock.wakeAt(clock.now() + LOOKS_EVERY_MS, this.look);
	};
}
