import type { Ending } from "../../src/agent/machine/state.js";
import type { AgentIdentity } from "../../src/rendezvous/records/intent.js";

/** A span of simulated time in milliseconds; it may still be open. */
export interface Span {
	readonly from: number;
	to: number;
}

/** One request to the store. */
export interface StoreCall {
	readonly at: number;
	readonly kind: "look" | "write" | "lease";
}

/** One agent process from its start to its end. */
export interface ProcessHistory {
	readonly nodeId: string;
	readonly incarnation: string;
	readonly role: string;
	readonly localWorldSize: number;
	readonly startedAt: number;
	endedAt: number | null;
	/** How it ended; null while it lives, and for ever where it was killed. */
	ending: Ending | null;
	/** An error ended it: it sent its workers SIGKILL, and left what it did not see end to its guard. */
	hasFailed: boolean;
	readonly frozen: Span[];
	/** When it could not rely on its way to the store; being frozen is part of that. */
	readonly disturbed: Span[];
	/** When it took its lease for lost. */
	readonly lossesTold: number[];
	/** When its record came into being. */
	readonly recordMade: number[];
	/** When its record vanished from the store because its lease ended. */
	readonly recordGone: number[];
	/** When it became the coordinator. */
	readonly elected: number[];
	/** When somebody's hand took its record, or all of the store's keys, away. */
	readonly recordTaken: number[];
	/** When it was asked to leave. */
	readonly stopsAsked: number[];
	/** When it was told that its machine will go, or that it stays. */
	readonly noticed: number[];
	/** What it asked of the store, keepalives apart. */
	readonly calls: StoreCall[];
	/** What its record should say at present. */
	intent: { readonly state: string; readonly claim: number } | null;
}

/** The history of a process that starts now. */
export function startOf(
	who: Pick<
		ProcessHistory,
		"nodeId" | "incarnation" | "role" | "localWorldSize"
	>,
	now: number,
): ProcessHistory {
	return {
		...who,
		startedAt: now,
		endedAt: null,
		ending: null,
		hasFailed: false,
		frozen: [],
		disturbed: [],
		lossesTold: [],
		recordMade: [],
		recordGone: [],
		elected: [],
		recordTaken: [],
		stopsAsked: [],
		noticed: [],
		calls: [],
		intent: null,
	};
}

/** How a process of this pid says who it is. */
export function identityOf(
	{ nodeId, incarnation, localWorldSize, role }: ProcessHistory,
	pid: number,
): AgentIdentity {
	return {
		...{ nodeId, incarnation, localWorldSize, role, pid },
		hostId: nodeId,
		startTime: incarnation,
		address: `${nodeId}.example`,
	};
}
