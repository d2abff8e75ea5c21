import type {
	LinkedAgent as Agent,
	RecordWrite,
	RecordWritten,
	RideMessage,
} from "../model/index.js";
import { Downlinks } from "./downlinks.js";
import type { Line, LinkMessage, RoundNews } from "./messages.js";
import { type Calls, Peers, type Suspicion } from "./peers.js";
import { type KnownFor, Uplink } from "./uplink.js";

/*
 * Who says what to whom, whatever carries it.
 *
 * Each agent speaks with the head of its round. In a large round it calls the speaker of its group, which calls the head
 * and passes on what both say: with few connections the head knows all. A speaker decides nothing, and there may be two: who
 * does not hear the head by one calls the next. It also tells its group what is new of the round, which they need not watch.
 */

/** What of a round decides who calls whom. */
export interface Round {
	readonly planId: string | null;
	readonly head?: Agent | undefined;
}

/** A node's place in a round. */
export interface Place {
	readonly incarnation: string;
	readonly planId?: string;
	readonly speakers?: readonly Agent[] | undefined;
}

/** What a node knows of the other nodes by its links. */
export interface LinksNow {
	/** The nodes that are heard. */
	readonly heard: readonly string[];
	readonly suspected: readonly Suspicion[];
}

interface ExchangeOptions {
	/** The steady time. */
	readonly now: () => number;
	/** After so long without a sign of life an agent's lease has decided, and nobody suspects it any more. In milliseconds. */
	readonly decidedMs: number;
	/** How often few agents say that they live, in milliseconds; see `Peers`. */
	readonly pingMs?: number;
	/** Calls these agents from now on. */
	readonly call: (calls: Calls) => void;
}

/** One agent's part in what the agents of a run say to one another. */
export class Exchange {
	private self: Agent = { nodeId: "", incarnation: "" };
	private round: Round = { planId: null };
	private speakers: readonly Agent[] = [];
	private readonly peers: Peers;
	private readonly uplink: Uplink;
	private readonly downlinks: Downlinks;

	constructor(private readonly options: ExchangeOptions) {
		const { now, decidedMs, pingMs } = options;
		const peers = new Peers(decidedMs, pingMs);
		this.peers = peers;
		this.uplink = new Uplink({
			now,
			onOpened: () => this.downlinks.introduceAll(),
			onUnlinked: (head) => this.downlinks.tellOfEnd(head),
		});
		this.downlinks = new Downlinks({
			...{ now, peers },
			onClosed: (...closed) => this.peerClosed(...closed),
			self: () => this.self,
			head: () => this.round.head,
			pass: (...passed) => this.uplink.pass(...passed),
		});
	}

	/** Call it with this process, and with each view of its round. */
	follow(self: Agent, round: Round, place: Place | null): void {
		const isOfRound = place !== null && place.planId === round.planId;
		const { head } = round;
		const isNew = round.planId !== this.round.planId;
		if (isNew) this.peers.beginRound();
		// A seat usually comes before its round.
		if (isNew || isOfRound) {
			this.speakers = (isOfRound && place.speakers) || [];
		}
		this.self = self;
		this.round = round;
		const isOfGroup = this.speakers.length > 0;
		this.call();
		this.uplink.follow({ self, head, isOfGroup });
	}

	tellHead(ride: RideMessage): void {
		this.uplink.tellHead(ride);
	}

	tell(incarnation: string, ride: RideMessage): void {
		this.downlinks.tell(incarnation, { kind: "ride", ride });
	}

	begin(plan: string): void {
		this.downlinks.begin(plan);
	}

	get known(): ReadonlySet<string> {
		return this.downlinks.known;
	}

	get knownFor(): KnownFor | undefined {
		return this.uplink.knownFor;
	}

	listen(hear: (from: string, message: RideMessage) => void): void {
		this.uplink.onRide(hear);
		this.downlinks.onRide(hear);
	}

	askHead(write: RecordWrite): boolean {
		return this.uplink.askHead(write);
	}

	answer(incarnation: string, written: RecordWritten): void {
		this.downlinks.tell(incarnation, { kind: "written", written });
	}

	onRecords(
		take: (from: Agent, write: RecordWrite) => void,
		learn: (written: RecordWritten | undefined) => void,
	): void {
		this.downlinks.onWrite(take);
		this.uplink.onWritten(learn);
	}

	get isTold(): boolean {
		return this.uplink.isTold;
	}

	tellRound(news: RoundNews | null): void {
		this.downlinks.tellRound(news);
	}

	onRound(hear: (news: RoundNews | null) => void): void {
		this.uplink.onRound(hear);
	}

	/** What is known at this moment. */
	get state(): LinksNow {
		const { peers, options } = this;
		const now = options.now();
		return { heard: peers.heardNow(now), suspected: peers.suspected(now) };
	}

	/** Whether an agent has called. */
	get isCalled(): boolean {
		return this.downlinks.isCalled;
	}

	callerOpened(agent: Agent, line: Line): void {
		this.downlinks.opened(agent, line);
		this.call();
	}

	callerClosed(line: Line): void {
		this.downlinks.closed(line);
		this.call();
	}

	calleeOpened(agent: Agent, line: Line): void {
		this.peers.opened(agent, this.options.now());
		this.uplink.opened(agent, line);
		this.call();
	}

	/** @param inOrder this agent has hung up */
	calleeClosed({ incarnation }: Agent, line: Line, inOrder: boolean): void {
		if (this.uplink.isBy(line)) this.uplink.unlink();
		// It has been called again since.
		else if (this.uplink.called?.incarnation === incarnation) return;
		this.peerClosed(incarnation, inOrder);
		if (!inOrder) this.passOver(incarnation);
		this.call();
	}

	/** A call has failed. */
	calleeFailed({ incarnation }: Agent): void {
		this.passOver(incarnation);
		this.call();
	}

	/** The guard of a dead process says that nothing of it is left. */
	hearGuard({ incarnation }: Agent): void {
		this.downlinks.forget(incarnation);
	}

	/** Takes a message of an agent that has called. */
	hearCaller({ incarnation }: Agent, line: Line, message: LinkMessage): void {
		this.downlinks.hear(incarnation, line, message);
		if (message.kind === "bye" || message.kind === "via") this.call();
	}

	/** Takes a message of the agent that was called. */
	hearCallee(agent: Agent, line: Line, message: LinkMessage): void {
		if (!this.uplink.isBy(line)) return;
		const { peers, options } = this;
		if (message.kind === "ping") {
			peers.heard(agent, options.now(), message.everyMs);
			line.send({ kind: "ping" });
		} else if (message.kind === "bye") {
			this.uplink.unlink();
			peers.left(agent.incarnation);
			this.peerClosed(agent.incarnation, true);
			this.call();
		} else {
			const other = this.uplink.hear(message);
			if (other) this.downlinks.passOn(other.to, message);
		}
	}

	/**
	 * Gives a sign of life, and gives up who is silent for too long. Returns in how many milliseconds to do so again.
	 * @param lateMs how long this agent stood still itself, and could hear nobody
	 */
	look(lateMs = 0): number {
		const { peers, options, uplink, downlinks } = this;
		const now = options.now();
		peers.excuse(lateMs, now);
		for (const { incarnation } of peers.forget(now)) {
			downlinks.drop(incarnation);
			if (uplink.called?.incarnation === incarnation) uplink.drop();
		}
		const { called, unheardSince = now } = uplink;
		// The head's own lease has decided before that.
		const isUnheard = now - unheardSince > options.decidedMs;
		if (called && (isUnheard || peers.isLost(called.incarnation, now))) {
			uplink.untold();
			this.passOver(called.incarnation);
			this.call();
		}
		downlinks.reportSilent();
		const { everyMs } = peers;
		downlinks.tellAll({ kind: "ping", everyMs });
		return everyMs;
	}

	/** Leaves the run in order: nobody suspects this agent. */
	leave(): void {
		this.downlinks.tellAll({ kind: "bye", leaves: true });
	}

	/** It may still be linked the other way: two agents may have called each other when a round changed. */
	private peerClosed(incarnation: string, inOrder: boolean): void {
		const { peers, downlinks, uplink, options } = this;
		const isCalled = uplink.called?.incarnation === incarnation;
		if (isCalled || downlinks.has(incarnation)) return;
		peers.closed(incarnation, options.now(), inOrder);
	}

	/** Another speaker is called instead of it. The head has no substitute. */
	private passOver(incarnation: string): void {
		if (incarnation === this.round.head?.incarnation) return;
		this.peers.passOver(incarnation);
	}

	private call(): void {
		const { self, round, speakers, uplink, downlinks } = this;
		// Who has become a speaker calls the head itself, also if an earlier speaker lives that its group cannot reach.
		const hasSpeaker = speakers.length > 0 && !downlinks.isWanted;
		const calls = this.peers.calls(
			self.incarnation,
			round.head,
			hasSpeaker ? speakers : [],
		);
		const { called } = uplink;
		if (called && called.incarnation !== calls.agent?.incarnation) {
			uplink.unlink();
		}
		this.options.call(calls);
	}
}
