import type { FailureRecord } from "../../rendezvous/records/failure.js";
import type { AgentState, Stopping } from "../machine/state.js";
import type { WorkerSlot } from "../machine/worker.js";

/** How long a worker may take to end before it is looked at, in milliseconds. */
const MOMENT_MS = 1_000;

/** Workers that were told to end because another one has failed, and have not ended. */
export interface StuckPeers {
	readonly round: number;
	readonly localRanks: readonly number[];
	/** When the first of them is killed. */
	readonly killAt: number;
}

/** Undefined if there are none. After a hang there are none either: its evidence has been taken. */
export function stuckPeers(state: AgentState): StuckPeers | undefined {
	if (state.phase !== "STOPPING") return undefined;
	const root = rootOf(state);
	if (root === undefined || root.evidence !== undefined) return undefined;
	const isPeer = (worker: WorkerSlot) =>
		worker.status === "running" &&
		worker.killAt !== null &&
		worker.pid !== null &&
		worker.pid !== root.pid;
	const peers = state.workers.filter(isPeer);
	if (peers.length === 0) return undefined;
	return {
		round: state.round,
		localRanks: peers.map(({ localRank }) => localRank),
		killAt: Math.min(...peers.flatMap(({ killAt }) => killAt ?? [])),
	};
}

/** When to look at them: there must be time left before they are killed. */
export function lookAt({ killAt }: StuckPeers, now: number): number {
	return now + Math.min(MOMENT_MS, (killAt - now) / 3);
}

/** The failure that ended the round, here or on another node. */
function rootOf({ failure, view, round }: Stopping): FailureRecord | undefined {
	const own = failure?.failure;
	const other = view?.round.cause.root ?? undefined;
	return [own, other].find((one) => one?.round === round);
}
