import type { LinkedAgent as Agent } from "../model/index.js";

/** How often both ends of a link give signs of life, as a part of the time after which a lease has decided; but not oftener. */
const PING_PART = 1 / 30;
const SHORTEST_PING_MS = 200;
/** An agent pings at most so many others in that time. If there are more, it pings each of them less often. */
const FEW = 32;
/** An agent without a sign of life for so many intervals is suspected. */
const SILENT_FOR = 2.25;
/** Another speaker replaces one that is silent for such a part of the time after which its lease has decided. */
const LOST_PART = 0.25;

interface Peer extends Agent {
	/** When it was last heard, on the steady clock. */
	heardAt: number;
	/** How often it gives a sign of life, in milliseconds. */
	everyMs: number;
	/** Since when it has no link; undefined while it has one. */
	closedAt?: number;
	/** Whether it is linked by a speaker, which says when its link ends and while it is silent. */
	readonly isPassed: boolean;
	isSaidSilent?: boolean;
}

/** An agent that seems to be dead. Only its lease decides whether it is. */
export interface Suspicion {
	readonly nodeId: string;
	/** Its link was closed without a word, or it says nothing. */
	readonly why: "closed" | "silent";
}

/** Whom an agent calls: for itself, and for its guard. */
export interface Calls {
	readonly agent: Agent | undefined;
	readonly guard: Agent | undefined;
}

/** The agents with which this one is or was linked, in the order in which they came. Times are on the steady clock. */
export class Peers {
	private readonly known = new Map<string, Peer>();
	/** The newest process of each node. */
	private readonly newest = new Map<string, string>();
	private passed = 0;
	/** Processes that have left the run, and speakers of this round that cannot be reached or are silent. */
	private readonly gone = new Set<string>();
	private readonly passedOver = new Set<string>();

	/**
	 * @param decidedMs after so long without a sign of life an agent's lease has decided, and nobody suspects it any more
	 * @param pingMs how often each agent is pinged while there are few
	 */
	constructor(
		private readonly decidedMs: number,
		private readonly pingMs = Math.max(SHORTEST_PING_MS, PING_PART * decidedMs),
	) {}

	/** How often each linked agent is pinged, in milliseconds. */
	get everyMs(): number {
		const asked = this.known.size - this.passed;
		return this.pingMs * Math.max(1, Math.ceil(asked / FEW));
	}

	/**
	 * Only the newest process of a node counts: the one before it has usually ended.
	 * @param isPassed whether it is linked by a speaker
	 */
	opened(agent: Agent, now: number, isPassed = false): void {
		const { nodeId, incarnation } = agent;
		this.drop(this.newest.get(nodeId) ?? "");
		this.drop(incarnation);
		this.newest.set(nodeId, incarnation);
		const { everyMs } = this;
		this.known.set(incarnation, { ...agent, heardAt: now, everyMs, isPassed });
		if (isPassed) this.passed += 1;
	}

	/** @param everyMs when it will be heard again */
	heard(agent: Agent, now: number, everyMs = this.everyMs): void {
		const { known, newest } = this;
		// An earlier process of its node may have called after it, and gone.
		const last = newest.get(agent.nodeId);
		if (last && !known.has(last)) this.opened(agent, now);
		const peer = known.get(agent.incarnation);
		if (peer) Object.assign(peer, { heardAt: now, everyMs });
	}

	/** Its speaker says whether it is silent from now on. */
	reported(incarnation: string, now: number, isSaidSilent: boolean): void {
		const peer = this.known.get(incarnation);
		if (peer) Object.assign(peer, { heardAt: now, isSaidSilent });
	}

	/** This agent stood still for so long, and could hear nobody. */
	excuse(lateMs: number, now: number): void {
		if (lateMs <= 0) return;
		for (const peer of this.known.values()) {
			peer.heardAt = Math.min(now, peer.heardAt + lateMs);
		}
	}

	/** @param inOrder it said that it leaves, or this agent has hung up */
	closed(incarnation: string, now: number, inOrder: boolean): void {
		const peer = this.known.get(incarnation);
		if (inOrder) this.drop(incarnation);
		else if (peer) peer.closedAt = peer.isSaidSilent ? peer.heardAt : now;
	}

	/** It leaves the run: it is not called again. */
	left(incarnation: string): void {
		this.gone.add(incarnation);
	}

	/** It is not called as a speaker until the next round. */
	passOver(incarnation: string): void {
		this.passedOver.add(incarnation);
	}

	beginRound(): void {
		this.passedOver.clear();
	}

	/** Forgets suspected agents once their leases have decided, and returns them. A speaker says itself which have gone. */
	forget(now: number): readonly Agent[] {
		const decided = [...this.known.values()].filter((peer) => {
			const { closedAt, heardAt, isPassed } = peer;
			const isLate = !isPassed && isSilent(peer, now);
			const isSuspect = closedAt !== undefined || isLate;
			return isSuspect && now - (closedAt ?? heardAt) > this.decidedMs;
		});
		for (const { incarnation } of decided) this.drop(incarnation);
		return decided;
	}

	/** For how long it has said nothing; 0 while it is not late. */
	silentMs(incarnation: string, now: number): number {
		const peer = this.known.get(incarnation);
		return peer && isSilent(peer, now) ? now - peer.heardAt : 0;
	}

	suspected(now: number): readonly Suspicion[] {
		return [...this.known.values()].flatMap((peer) => {
			const { nodeId, closedAt } = peer;
			if (closedAt !== undefined) return { nodeId, why: "closed" };
			return isSilent(peer, now) ? { nodeId, why: "silent" } : [];
		});
	}

	/** The nodes whose agents are heard. */
	heardNow(now: number): readonly string[] {
		return [...this.known.values()]
			.filter((peer) => peer.closedAt === undefined && !isSilent(peer, now))
			.map(({ nodeId }) => nodeId);
	}

	/** Whether it has been silent for longer than a busy machine explains. */
	isLost(incarnation: string, now: number): boolean {
		return this.silentMs(incarnation, now) > LOST_PART * this.decidedMs;
	}

	/**
	 * Each agent and its guard call the first speaker of its group that speaks; a speaker, and who has none, calls the head
	 * of the round. The head's guard calls the agent that has been linked with the head for the longest time. So an agent
	 * that lives hears of each death.
	 * @param own this process's incarnation
	 */
	calls(
		own: string,
		head: Agent | undefined,
		speakers: readonly Agent[] = [],
	): Calls {
		if (head === undefined) return { agent: undefined, guard: undefined };
		if (head.incarnation === own) {
			return { agent: undefined, guard: this.heir };
		}
		const callee = [...speakers, head].find(
			({ incarnation }) =>
				incarnation !== own &&
				!this.gone.has(incarnation) &&
				!this.passedOver.has(incarnation),
		);
		const called = callee?.link && callee;
		return { agent: called, guard: called };
	}

	private get heir(): Agent | undefined {
		for (const peer of this.known.values()) {
			const isLinked = peer.closedAt === undefined && peer.link !== undefined;
			if (isLinked && !peer.isPassed) return peer;
		}
		return undefined;
	}

	private drop(incarnation: string): void {
		if (this.known.get(incarnation)?.isPassed) this.passed -= 1;
		this.known.delete(incarnation);
	}
}

function isSilent(peer: Peer, now: number): boolean {
	const { heardAt, everyMs, isPassed, isSaidSilent = false } = peer;
	return isPassed ? isSaidSilent : now - heardAt > SILENT_FOR * everyMs;
}
