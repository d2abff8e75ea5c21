import type { Clock } from "../../base/clock.js";
import type { ReceivedReply } from "../../channel/events.js";
import type { AgentConfig } from "../../config/agent-config.js";
import { judgeStandstill, type Standstill } from "../../progress/hang-rule.js";
import { stepRate } from "../../progress/steps.js";
import type {
	ProgressRecord,
	WorkerProgress,
} from "../../rendezvous/records/progress-record.js";
import type { AgentState, Running } from "../machine/state.js";
import type { WorkerProcess } from "../workers/worker-member.js";
import type { RoundLedger } from "./round-ledger.js";
import { StepPublisher } from "./step-publisher.js";
import { watchedWorkers } from "./watched-workers.js";
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
	/** Counts what the time is spent on. */
	readonly ledger: Pick<RoundLedger, "follow" | "stepped" | "announced">;
	/**
	 * Called when the workers stand still. Resolves with the time of the next judgement on the clock, or with undefined if
	 * none is wanted before a worker makes a step.
	 */
	readonly onStill: (
		still: Still,
		state: Running,
		progress: readonly WorkerProgress[],
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
	/** Before this time no standstill is judged … */
	private quietUntil = 0;
	/** … nor before a step that is newer than the one at this time. */
	private quietSince: { readonly stepAt: number | undefined } | undefined;
	private readonly publisher: StepPublisher;

	constructor(private readonly options: StepWatchOptions) {
		const { config, ledger } = options;
		this.readers = new WorkerReaders(config.steps.pattern, ledger.stepped);
		this.publisher = new StepPublisher({
			...options,
			nodeId: options.config.nodeId,
		});
	}

	/** Takes each new state of the agent. */
	follow(state: AgentState): void {
		this.state = state;
		const number = state.phase === "RUNNING" ? state.round : undefined;
		const isSame = number === this.round?.number;
		// The last steps of the round that is left belong to it.
		if (!isSame && this.round !== undefined) this.lookAtAll();
		this.options.ledger.follow(state);
		if (isSame) return;
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
		const { clock, ledger } = this.options;
		const now = clock.now();
		const lateMs = clock.wallTime() - reply.timestamp;
		// It was said in this round, and not in the future.
		const at = Math.min(now, Math.max(this.round.since, now - lateMs));
		this.readers.of(process).heard(reply, at);
		ledger.announced(directory, reply, at);
	}

	/** How far the workers of the present round have come; only those that have made a step. */
	progress(): readonly WorkerProgress[] {
		const { clock } = this.options;
		const now = clock.now();
		const wallTime = clock.wallTime();
		return this.options.processes().flatMap((process) => {
			const { steps } = this.readers.of(process);
			if (steps === undefined) return [];
			const { localRank } = process;
			const { step, source, metrics } = steps;
			const stepAt = Math.round(wallTime - (now - steps.at));
			const rate = stepRate(steps, now);
			return [{ localRank, step, source, stepAt, rate, metrics }];
		});
	}

	/** The same after a last look at what ended workers have left. */
	lastProgress(): readonly WorkerProgress[] {
		this.lookAtAll();
		return this.progress();
	}

	close(): void {
		this.rest();
		this.readers.keep([]);
	}

	private begin(number: number): void {
		const now = this.options.clock.now();
		this.round = { number, since: now };
		this.quietUntil = 0;
		this.quietSince = undefined;
		this.readers.beginRound();
		this.lookLater();
	}

	private lookAtAll(): void {
		const now = this.options.clock.now();
		for (const process of this.options.processes()) {
			this.readers.of(process).look(now);
		}
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
		if (now - this.lookAt > STOPPED_MS) this.quietUntil = now + STOPPED_MS;
		this.readers.keep(this.options.processes());
		this.lookAtAll();
		if (this.readers.newestStepAt !== undefined) this.countsSteps = true;
		this.publisher.offer({ ...this.place, workers: this.progress() });
		this.judge(now);
		if (this.round !== undefined) this.lookLater();
	}

	private judge(now: number): void {
		const { state, round } = this;
		if (state?.phase !== "RUNNING" || round === undefined) return;
		if (this.isAsking || now < this.quietUntil) return;
		if (
			this.quietSince?.stepAt === this.readers.newestStepAt &&
			this.quietSince
		) {
			return;
		}
		this.quietSince = undefined;
		const judged = this.standstill(state, round.since, now);
		if (judged.kind === "fine") return;
		this.isAsking = true;
		void this.options.onStill(judged, state, this.progress()).then((again) => {
			this.isAsking = false;
			if (again === undefined)
				this.quietSince = { stepAt: this.readers.newestStepAt };
			else this.quietUntil = again;
		});
	}

	private standstill(
		{ workers }: Running,
		since: number,
		now: number,
	): Standstill {
		const { config, processes } = this.options;
		const watched = watchedWorkers(workers, processes(), this.readers, since);
		return watched === undefined
			? { kind: "fine" }
			: judgeStandstill(watched, config.steps, this.countsSteps, now);
	}
}
