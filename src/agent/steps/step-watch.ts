import type { ReceivedReply } from "../../channel/events.js";
import { judgeStandstill, type Standstill } from "../../progress/hang-rule.js";
import type {
	Hang,
	WorkerProgress,
} from "../../rendezvous/records/progress-record.js";
import type { AgentState, Running } from "../machine/state.js";
import { StepPublisher } from "./step-publisher.js";
import type { StepWatchOptions } from "./step-watch-options.js";
import { watchedWorkers } from "./watched-workers.js";
import { WorkerReaders } from "./worker-readers.js";

/** How often the sources of steps are read, in milliseconds. */
const LOOK_EVERY_MS = 1_000;
/** An agent so late for a look, in milliseconds, was stopped itself, and so were its workers perhaps. */
const STOPPED_MS = 5_000;

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
	/** What was found out about the present standstill, which began after the step at this time. */
	private hang:
		| { readonly found: Hang; readonly stepAt: number | undefined }
		| undefined;
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
		this.readers.heard(process, reply, at);
		ledger.announced(directory, reply, at);
	}

	/** How far the workers of the present round have come; only those that have made a step. */
	progress(): readonly WorkerProgress[] {
		const { clock, processes } = this.options;
		return this.readers.progress(processes(), clock);
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
		this.hang = undefined;
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
		this.offer();
		this.judge(now);
		if (this.round !== undefined) this.lookLater();
	}

	private offer(): void {
		const { state, hang } = this;
		if (state?.phase !== "RUNNING") return;
		if (hang?.stepAt !== this.readers.newestStepAt) this.hang = undefined;
		const workers = this.progress();
		const straggler = this.options.straggler(state);
		this.options.onLook(workers, straggler);
		this.publisher.offer({
			...this.place,
			...{ firstRank: state.seat.firstRank, workers, straggler },
			hang: this.hang?.found,
		});
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
		const stepAt = this.readers.newestStepAt;
		const asked = this.options.onStill(judged, state, this.progress());
		void asked.then(({ again, hang }) => {
			this.isAsking = false;
			if (this.hang === undefined) this.options.onHang(hang.kind);
			this.hang = { found: hang, stepAt };
			if (again === undefined) this.quietSince = { stepAt };
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
