import type { LinkedAgent as Agent } from "../model/index.js";

/**
 * How often both ends of a link say that they live while few agents are linked with one: in such a part of the time after
 * which a lease has decided, but no more often than in so many milliseconds.
 */
const PING_PART = 1 / 30;
const SHORTEST_PING_MS = 200;
/** So many agents are asked in that time; more of them are asked less often, so that it costs no more. */
const FEW = 32;
/** After so many times without a sign of life an agent is suspected. */
const SILENT_FOR = 2.25;
/** After such a part of the time after which its lease has decided, another speaker takes a silent one's place. */
const LOST_PART = 0.25;

interface Peer extends Agent {
	/** When it was last heard, on the steady clock. */
	heardAt: number;
	/** How often it is to be heard, in milliseconds. */
	everyMs: number;
	/** Since when it has no link; undefined while it has one. */
	closedAt?: number;
	/** Its own link is one to its speaker, which says when that ends, and while it is silent. */
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

/** The agents with which one is or was linked, in the order in which they came. Times are those of the steady clock. */
export class Peers {
	private readonly known = new Map<string, Peer>();
	/** The newest process of each node. */
	private readonly newest = new Map<string, string>();
	private passed = 0;
	/** Processes that have left the run, and speakers of this round that do not speak. */
	private readonly gone = new Set<string>();
	private readonly passedOver = new Set<string>();

	/**
	 * @param decidedMs how long its lease decides at most: then nobody suspects an agent any more
	 * @param pingMs how often few agents say that they live
	 */
	constructor(
		private readonly decidedMs: number,
		private readonly pingMs = Math.max(SHORTEST_PING_MS, PING_PART * decidedMs),
	) {}

	/** How often each linked agent is to say that it lives, in milliseconds. */
	get everyMs(): number {
		const asked = this.known.size - this.passed;
		return this.pingMs * Math.max(1, Math.ceil(asked / FEW));
	}

	/**
	 * Of a node the newest process counts: mostly the one before it has ended.
	 * @param isPassed its link is one to its speaker
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
	say(incarnation: string, now: number, isSaidSilent: boolean): void {
		const peer = this.known.get(incarnation);
		if (peer) Object.assign(peer, { heardAt: now, isSaidSilent });
	}

	/** For so long this agent could not have heard anybody. */
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

	/** It has hung up on this agent's call: it leaves the run, and is not called in vain. */
	left(incarnation: string): void {
		this.gone.add(incarnation);
	}

	/** Another agent speaks for this one's group, until the next round. */
	passOver(incarnation: string): void {
		this.passedOver.add(incarnation);
	}

	beginRound(): void {
		this.passedOver.clear();
	}

	/** Forgets the agents that were suspected until their leases have decided, and returns them. Of others a speaker says it. */
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

	/** Whether it has said nothing for so long that its lease may soon decide: a busy machine lets one wait for less. */
	isLost(incarnation: string, now: number): boolean {
		return this.silentMs(incarnation, now) > LOST_PART * this.decidedMs;
	}

	/**
	 * Each agent and its guard call the first speaker of its group that speaks; a speaker, and who has none, calls the head
	 * of the round. The head's guard calls the agent that has been linked with it for the longest time. So each death is
	 * heard by an agent that lives.
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
