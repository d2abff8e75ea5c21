import type { Clock } from "../../base/clock.js";
import type { ReceivedReply } from "../../channel/events.js";
import type { AgentConfig } from "../../config/agent-config.js";
import { judgeStandstill, type Standstill } from "../../progress/hang-rule.js";
import type {
	ProgressRecord,
	WorkerProgress,
} from "../../rendezvous/records/progress-record.js";
import type { AgentState, Running } from "../machine/state.js";
import { isEnding, type WorkerSlot } from "../machine/worker-slot.js";
import type { WorkerProcess } from "../workers/worker-member.js";
import { StepPublisher } from "./step-publisher.js";
import { WorkerReaders } from "./worker-readers.js";

/** How often the sources of steps are read, in milliseconds. */
const LOOK_EVERY_MS = 1_000;
/** An agent so late for a look, in milliseconds, was stopped itself, and so were its workers perhaps. */
const STOPPED_MS = 5_000;

/** A node that stands still. */
export type Still = Exclude<Standstill, { readonly kind: "fine" }>;

export interface StepWatchOptions {
	readonly clock: Clock;
	readonly config: Pick<AgentConfig, "steps" | "nodeId">;
	/** The present worker processes. */
	readonly processes: () => readonly WorkerProcess[];
	/** Publishes how far the workers have come; called at most once in two seconds. */
	readonly publish: (record: ProgressRecord) => void;
	/**
	 * Called when the workers stand still. Resolves with the time of the next judgement on the clock, or with undefined if
	 * none is wanted before a worker makes a step.
	 */
	readonly onStill: (
		still: Still,
		state: Running,
		progress: readonly WorkerProgress[],
		/** Whether one has moved since, or is busy: evidence takes seconds. */
		hasMoved: () => boolean,
	) => Promise<number | undefined>;
}

/** Follows the steps of a node's workers while their round runs, and notices when none comes. */
export class StepWatch {
	private readonly readers: WorkerReaders;
	private state: AgentState | undefined;
	/** The round that is watched, and since when; undefined: none runs. */
	private round:
		| { readonly number: number; readonly since: number }
		| undefined;
	private cancelLook: (() => void) | undefined;
	private lookAt = 0;
	private countsSteps = false;
	private isAsking = false;
	/** When this process last went on after it had been stopped. */
	private wokeAt = 0;
	/** A standstill that was judged, by its last move, and when it is judged again. */
	private judged:
		| { readonly movedAt: number | undefined; readonly again: number }
		| undefined;
	private readonly publisher: StepPublisher;

	constructor(private readonly options: StepWatchOptions) {
		const { config, processes, clock } = options;
		this.readers = new WorkerReaders(config.steps.pattern, processes, clock);
		this.publisher = new StepPublisher({
			...options,
			nodeId: config.nodeId,
		});
	}

	/** Takes each new state of the agent. */
	follow(state: AgentState): void {
		this.state = state;
		const number = state.phase === "RUNNING" ? state.round : undefined;
		if (number === this.round?.number) return;
		if (number === undefined) this.rest();
		else this.begin(number);
	}

	/** The round that runs here. */
	get place(): { readonly instance: number; readonly round: number } {
		return {
			instance: this.state?.instance ?? 0,
			round: this.round?.number ?? 0,
		};
	}

	/** Takes a worker's reply. */
	heard(directory: string, reply: ReceivedReply): void {
		if (reply.kind !== "PROGRESS" || this.round === undefined) return;
		const process = this.options
			.processes()
			.find((one) => one.directory === directory);
		if (process === undefined) return;
		this.readers.of(process).heard(reply, this.options.clock.now());
	}

	/** How far the workers of the present round have come; only those that have made a step. */
	progress(): readonly WorkerProgress[] {
		return this.readers.progress();
	}

	/** The same after a last look at what ended workers have left. */
	lastProgress(): readonly WorkerProgress[] {
		this.readers.look();
		return this.progress();
	}

	close(): void {
		this.rest();
	}

	private begin(number: number): void {
		const now = this.options.clock.now();
		this.round = { number, since: now };
		this.judged = undefined;
		this.readers.beginRound();
		this.lookLater();
	}

	/** No round runs: nothing is read, and no timer wakes the agent. */
	private rest(): void {
		this.round = undefined;
		this.cancelLook?.();
		this.cancelLook = undefined;
	}

	private lookLater(): void {
		const { clock } = this.options;
		this.cancelLook?.();
		this.lookAt = clock.now() + LOOK_EVERY_MS;
		this.cancelLook = clock.wakeAt(this.lookAt, () => this.look());
	}

	private look(): void {
		const now = this.options.clock.now();
		if (now - this.lookAt > STOPPED_MS) this.wokeAt = now;
		this.readers.look();
		this.countsSteps ||= this.readers.movedAt !== undefined;
		this.publisher.offer({
			...this.place,
			workers: this.progress(),
			busyUntil: this.readers.busyUntil,
		});
		this.judge(now);
		if (this.round !== undefined) this.lookLater();
	}

	private judge(now: number): void {
		const { state, round } = this;
		if (state?.phase !== "RUNNING" || round === undefined) return;
		const { movedAt } = this.readers;
		if (this.isAsking || this.isQuiet(now)) return;
		const standstill = this.standstill(now);
		if (standstill.kind === "fine") return;
		this.isAsking = true;
		const hasMoved = () => {
			this.readers.look();
			return this.readers.isBusy || this.readers.movedAt !== movedAt;
		};
		void this.options
			.onStill(standstill, state, this.progress(), hasMoved)
			.then((again) => {
				this.isAsking = false;
				// It is about a round that is over.
				if (this.round !== round) return;
				this.judged = { movedAt, again: again ?? Number.POSITIVE_INFINITY };
			});
	}

	/** Whether the present standstill was judged, and is not to be judged again yet. */
	private isQuiet(now: number): boolean {
		if (this.judged?.movedAt !== this.readers.movedAt) return false;
		return now < (this.judged?.again ?? 0);
	}

	/** Ended workers make no more steps; a paused or ending one means that the round is being left. */
	private standstill(now: number): Standstill {
		const { state, round } = this;
		if (state?.phase !== "RUNNING" || round === undefined) {
			return { kind: "fine" };
		}
		const { workers } = state;
		const { since } = round;
		const there = workers.filter(({ status }) => status !== "gone");
		if (there.length === 0 || !there.every(isWorking)) {
			return { kind: "fine" };
		}
		const localRanks = new Set(there.map(({ localRank }) => localRank));
		const watched = this.options
			.processes()
			.filter(({ localRank }) => localRanks.has(localRank))
			.map((process) => {
				const { localRank } = process;
				const { pace, busyUntil: announced } = this.readers.of(process);
				// What the launcher slept through says nothing of its workers.
				const busyUntil = Math.max(announced, this.wokeAt);
				return { localRank, since, pace, busyUntil };
			});
		const limits = this.options.config.steps;
		return judgeStandstill(watched, limits, this.countsSteps, now);
	}
}

function isWorking(worker: WorkerSlot): boolean {
	return (
		worker.status === "running" && worker.pid !== null && !isEnding(worker)
	);
}
