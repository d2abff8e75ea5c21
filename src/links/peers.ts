import type { LinkedAgent as Agent } from "../model/index.js";

/** How often both ends of a link say that they live, in milliseconds, while few agents are linked with one. */
const PING_MS = 200;
/** So many agents are asked in that time; more of them are asked less often, so that it costs no more. */
const FEW = 32;
/** After so many times without a sign of life an agent is suspected. */
const SILENT_FOR = 2.25;

interface Peer extends Agent {
	/** When it was last heard, on the steady clock. */
	heardAt: number;
	/** How often it is to be heard, in milliseconds. */
	everyMs: number;
	/** Since when it has no link; undefined while it has one. */
	closedAt?: number;
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
	private gone: string | undefined;

	/** @param decidedMs how long its lease decides at most: then nobody suspects an agent any more */
	constructor(private readonly decidedMs: number) {}

	/** How often each linked agent is to say that it lives, in milliseconds. */
	get everyMs(): number {
		return PING_MS * Math.max(1, Math.ceil(this.known.size / FEW));
	}

	/** Of a node the newest process counts: mostly the one before it has ended. */
	opened(agent: Agent, now: number): void {
		this.known.delete(this.newest.get(agent.nodeId) ?? "");
		this.newest.set(agent.nodeId, agent.incarnation);
		const { everyMs } = this;
		this.known.set(agent.incarnation, { ...agent, heardAt: now, everyMs });
	}

	/** @param everyMs when it will be heard again */
	heard(incarnation: string, now: number, everyMs = this.everyMs): void {
		const peer = this.known.get(incarnation);
		if (peer) Object.assign(peer, { heardAt: now, everyMs });
	}

	/** @param inOrder it said that it leaves, or this agent has hung up */
	closed(incarnation: string, now: number, inOrder: boolean): void {
		const peer = this.known.get(incarnation);
		if (inOrder) this.known.delete(incarnation);
		else if (peer) peer.closedAt = now;
	}

	/** It has hung up on this agent's call: it leaves the run, and is not called in vain. */
	left(incarnation: string): void {
		this.gone = incarnation;
	}

	/** Forgets the agents that were suspected until their leases have decided, and returns them. */
	forget(now: number): readonly Agent[] {
		const decided = [...this.known.values()].filter((peer) => {
			const { closedAt, heardAt } = peer;
			const isSuspect = closedAt !== undefined || isSilent(peer, now);
			return isSuspect && now - (closedAt ?? heardAt) > this.decidedMs;
		});
		for (const { incarnation } of decided) this.known.delete(incarnation);
		return decided;
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

	/**
	 * All agents call the head of the round, whose guard calls the agent that has been linked with it for the longest time. So
	 * each death is heard by an agent that lives.
	 * @param own this process's incarnation
	 */
	calls(own: string, head: Agent | undefined): Calls {
		if (head === undefined || head.incarnation === this.gone) {
			return { agent: undefined, guard: undefined };
		}
		if (head.incarnation !== own) {
			const callee = head.link && head;
			return { agent: callee, guard: callee };
		}
		for (const heir of this.known.values()) {
			const isLinked = heir.closedAt === undefined && heir.link !== undefined;
			if (isLinked) return { agent: undefined, guard: heir };
		}
		return { agent: undefined, guard: undefined };
	}
}

function isSilent({ heardAt, everyMs }: Peer, now: number): boolean {
	return now - heardAt > SILENT_FOR * everyMs;
}
