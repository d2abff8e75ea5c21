import type { AgentState } from "../agent/machine/state.js";
import { isEnding, type WorkerSlot } from "../agent/machine/worker.js";
import { standingLine } from "../agent/presence/pinned-view.js";
import { waitingLine } from "../agent/presence/waiting-lines.js";
import { plainMessage } from "../logs/plain-text.js";
import { waitingInWords } from "../rendezvous/describe/waiting-words.js";
import type {
	NodeDocument,
	WorkerDocument,
	WorkerState,
} from "./status-document.js";

/** A worker without its output. */
export type OwnWorker = Omit<WorkerDocument, "lastLines" | "role">;

/** An agent's node, as its successive states describe it. */
export interface OwnNode {
	readonly state: AgentState;
	/** Since when it has been in its phase, in milliseconds since 1970. */
	readonly since: number;
	/** When it, its round or one of its workers last changed. */
	readonly eventAt: number;
	readonly workers: readonly OwnWorker[];
}

export function ownNode(state: AgentState, wallTime: number): OwnNode {
	return { state, since: wallTime, eventAt: wallTime, workers: [] };
}

/** Adds the agent's next state. */
export function follow(
	before: OwnNode,
	state: AgentState,
	wallTime: number,
): OwnNode {
	const isSamePhase = before.state.phase === state.phase;
	const workers = workersOf(before, state, wallTime);
	const isNews =
		!isSamePhase ||
		standOf(before.state) !== standOf(state) ||
		workers.some(({ since }) => since === wallTime);
	return {
		state,
		since: isSamePhase ? before.since : wallTime,
		eventAt: isNews ? wallTime : before.eventAt,
		workers,
	};
}

/**
 * Ended workers stay until new ones come. Of a thousand workers most stay the same from one state to the next, and so do
 * their objects.
 */
function workersOf(
	{ state: before, workers }: OwnNode,
	state: AgentState,
	wallTime: number,
): readonly OwnWorker[] {
	const slots = state.workers;
	const known = before.workers;
	if (slots.length === 0) {
		return workers.every((worker) => worker.state === "ended")
			? workers
			: workers.map((worker) =>
					next(worker, { ...worker, state: "ended" }, wallTime),
				);
	}
	const firstRank = state.seat?.firstRank ?? 0;
	return slots.map((slot, index) => {
		const worker = workers[index];
		const rank = firstRank + slot.localRank;
		if (worker?.rank === rank && slot === known[index]) return worker;
		const { localRank, pid } = slot;
		return next(
			worker,
			{ localRank, rank, pid, state: stateOf(slot) },
			wallTime,
		);
	});
}

/** The time of a state changes only with the state. */
function next(
	known: OwnWorker | undefined,
	worker: Omit<OwnWorker, "since">,
	wallTime: number,
): OwnWorker {
	const isSame = known?.pid === worker.pid && known.state === worker.state;
	return { ...worker, since: isSame ? known.since : wallTime };
}

function stateOf(slot: WorkerSlot): WorkerState {
	if (slot.status === "gone") return "ended";
	if (slot.status === "exited" || isEnding(slot)) return "stopping";
	if (slot.pid === null) return "starting";
	return slot.status;
}

/** The part of a state, besides phase and workers, whose change is news. */
function standOf({ view }: AgentState): string {
	const { synced, deprecated, outcome } = view?.round ?? {};
	return [synced, deprecated, outcome?.result].join();
}

/** The node as in `/status`, without its workers. */
export function describeNode(
	{ state, since }: OwnNode,
	wallTime: number,
): Pick<NodeDocument, "phase" | "since" | "waitsFor"> {
	return {
		phase: state.phase,
		since,
		waitsFor: waitsFor(state, since, wallTime),
	};
}

function waitsFor(
	state: AgentState,
	since: number,
	wallTime: number,
): string | null {
	if (state.phase === "JOINING") {
		const words = waitingLine(state, wallTime - since, wallTime);
		return plainMessage(
			words ?? standingLine(state) ?? "waits to join its run",
		);
	}
	const { view } = state;
	if (state.phase === "CLOSED" || view === null) return null;
	const { round, waiting } = view;
	const isAwaited =
		waiting?.instance === round.instance && waiting.round === round.synced + 1;
	return waiting && isAwaited
		? plainMessage(waitingInWords(waiting, wallTime))
		: null;
}

/** Whether a node's workers run in a round whose barrier has lifted, and if not, why. */
export interface Readiness {
	readonly isReady: boolean;
	readonly reason: string;
}

export function readinessOf(node: OwnNode, wallTime: number): Readiness {
	const { state, workers } = node;
	const standing = plainMessage(standingLine(state) ?? "");
	const no = (reason: string) => ({ isReady: false, reason });
	switch (state.phase) {
		case "RUNNING": {
			const others = workers.filter((worker) => worker.state !== "running");
			const [first] = others;
			if (first === undefined) return { isReady: true, reason: standing };
			const more = others.length === 1 ? "" : `, and ${others.length - 1} more`;
			return no(`${standing}; rank ${first.rank} is ${first.state}${more}`);
		}
		case "JOINING":
			return no(waitsFor(state, node.since, wallTime) ?? standing);
		case "STOPPING":
		case "FINISHED":
			return no(standing);
		case "CLOSED":
			return no(plainMessage(`it has ended: ${state.ending.reason}`));
		default:
			return state satisfies never;
	}
}
