import type { Clock } from "../../base/clock.js";
import { plainMessage } from "../../logs/index.js";
import type { RoundRecord } from "../../rendezvous/index.js";
import {
	type NodeNow,
	type OwnWorker,
	type Readiness,
	type WorkerState,
	waitingInWords,
} from "../../status/index.js";
import { type AgentState, INITIAL_STATE } from "../machine/state.js";
import { isEnding, type WorkerSlot } from "../machine/worker.js";
import { standingLine } from "./pinned-view.js";
import { waitingLine } from "./waiting-lines.js";

/** An agent's node, as its successive states describe it to observers. */
export class OwnNode {
	private state: AgentState = INITIAL_STATE;
	private since: number;
	private eventAt: number;
	private workers: readonly OwnWorker[] = [];
	private round: RoundRecord | null = null;

	constructor(private readonly clock: Pick<Clock, "wallTime">) {
		this.since = clock.wallTime();
		this.eventAt = this.since;
	}

	/** Call it with each new state of the agent. */
	follow(state: AgentState): void {
		const before = this.state;
		const wallTime = this.clock.wallTime();
		this.workers = workersOf(before, this.workers, state, wallTime);
		const isSamePhase = before.phase === state.phase;
		if (!isSamePhase) this.since = wallTime;
		const isNews =
			!isSamePhase ||
			standOf(before) !== standOf(state) ||
			this.workers.some(({ since }) => since === wallTime);
		if (isNews) this.eventAt = wallTime;
		this.round = state.view?.round ?? this.round;
		this.state = state;
	}

	now(): Omit<NodeNow, "links"> {
		const { state, since, workers } = this;
		const waitsFor = awaitedBy(state, since, this.clock.wallTime());
		return {
			phase: state.phase,
			since,
			eventAt: this.eventAt,
			waitsFor,
			workers,
			readiness: readinessOf(state, workers, waitsFor),
			round: this.round,
		};
	}
}

/**
 * Ended workers stay until new ones come. Of a thousand workers most stay the same from one state to the next, and so do
 * their objects.
 */
function workersOf(
	before: AgentState,
	workers: readonly OwnWorker[],
	state: AgentState,
	wallTime: number,
): readonly OwnWorker[] {
	const slots = state.workers;
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
		if (worker?.rank === rank && slot === before.workers[index]) return worker;
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

function awaitedBy(
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

function readinessOf(
	state: AgentState,
	workers: readonly OwnWorker[],
	waitsFor: string | null,
): Readiness {
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
			return no(waitsFor ?? standing);
		case "STOPPING":
		case "FINISHED":
			return no(standing);
		case "CLOSED":
			return no(plainMessage(`it has ended: ${state.ending.reason}`));
		default:
			return state satisfies never;
	}
}
