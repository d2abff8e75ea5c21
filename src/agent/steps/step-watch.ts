import type { ReceivedReply } from "../../channel/events.js";
import {
	judgeStandstill,
	type Standstill,
	stillFrom,
	type WatchedWorker,
} from "../../progress/hang-rule.js";
import type { WorkerProgress } from "../../rendezvous/records/progress-record.js";
import type { Reached } from "../../rendezvous/records/records.js";
import type { AgentState, Running } from "../machine/state.js";
import type { WorkerProcess } from "../workers/worker-process.js";
import { KnownStandstill } from "./known-standstill.js";
import { LOOK_EVERY_MS, nextLook } from "./next-look.js";
import { StepPublisher } from "./step-publisher.js";
import type { Inquired, StepWatchOptions } from "./step-watch-options.js";
import { watchedWorkers } from "./watched-workers.js";
import { WorkerReaders } from "./worker-readers.js";

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
	/** The newest round that was watched. */
	private latest = 0;
	private cancelLook: (() => void) | undefined;
	private lookAt = 0;
	private countsSteps = false;
	private isAsking = false;
	/** When this process last went on after it had been stopped. */
	private wokeAt = 0;
	private readonly known = new KnownStandstill();
	private readonly publisher: StepPublisher;

	constructor(private readonly options: StepWatchOptions) {
		const { config, processes, clock, ledger } = options;
		this.readers = new WorkerReaders({
			...{ pattern: config.steps.pattern, processes, clock },
			onStep: ledger.stepped,
		});
		this.publisher = new StepPublisher({ ...options, nodeId: config.nodeId });
	}

	/** Takes each new state of the agent. */
	follow(state: AgentState): void {
		this.state = state;
		const number = state.phase === "RUNNING" ? state.round : undefined;
		const isSame = number === this.round?.number;
		if (!isSame && this.round !== undefined) {
			// The last steps of the round that is left belong to it.
			this.options.readReports();
			this.readers.look();
		}
		this.options.ledger.follow(state);
		if (isSame) return;
		if (number === undefined) this.rest();
		else this.begin(number);
	}

	/** The round that runs here. */
	get place(): { readonly instance: number; readonly round: number } {
		const instance = this.state?.instance ?? 0;
		return { instance, round: this.round?.number ?? 0 };
	}

	/** Takes a worker's reply. */
	heard(directory: string, reply: ReceivedReply): void {
		if (reply.kind !== "PROGRESS" || this.round === undefined) return;
		const { clock, ledger, processes } = this.options;
		const isMeant = (one: WorkerProcess) => one.directory === directory;
		const process = processes().find(isMeant);
		if (process === undefined) return;
		const now = clock.now();
		const lateMs = clock.wallTime() - reply.timestamp;
		// It was said in this round, and not in the future.
		const at = Math.min(now, Math.max(this.round.since, now - lateMs));
		this.readers.heard(process, reply, at);
		ledger.announced(directory, reply, at);
		if (this.lookAt > now + LOOK_EVERY_MS) this.lookLater();
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

	/** The last step of the worker in this place, after a last look; undefined if it tells nothing. */
	stepOf(localRank: number): number | undefined {
		this.readers.look();
		return this.readers.stepOf(localRank);
	}

	/** How far the newest round has come here; undefined if no worker counts steps. */
	get reached(): Reached | undefined {
		this.readers.look();
		const { furthest: step } = this.readers;
		return step === undefined ? undefined : { round: this.latest, step };
	}

	readonly close = () => this.rest();

	private begin(number: number): void {
		this.round = { number, since: this.options.clock.now() };
		this.latest = number;
		this.known.forget();
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
		this.cancelLook?.();
		const now = this.options.clock.now();
		const isNew = this.readers.movedAt === undefined;
		const still = stillFrom(this.watched ?? [], this.options.config.steps);
		this.lookAt = nextLook(now, isNew ? this.round?.since : now, still);
		this.cancelLook = this.options.clock.wakeAt(this.lookAt, this.look);
	}

	private readonly look = () => {
		const now = this.options.clock.now();
		if (now - this.lookAt > STOPPED_MS) this.wokeAt = now;
		this.readers.look();
		this.countsSteps ||= this.readers.movedAt !== undefined;
		this.offer();
		this.judge(now);
		if (this.round !== undefined) this.lookLater();
	};

	private offer(): void {
		const { state } = this;
		if (state?.phase !== "RUNNING") return;
		const hang = this.known.hang(this.readers.movedAt);
		const workers = this.progress();
		// Without steps there is nothing to compare, and the store is left alone.
		const isCounting = workers.length > 0;
		const straggler = isCounting ? this.options.straggler(state) : undefined;
		this.options.onLook(workers, straggler);
		this.publisher.offer({
			...this.place,
			...{ firstRank: state.seat.firstRank, workers, straggler },
			...{ hang, busyUntil: this.readers.busyUntil },
		});
	}

	private judge(now: number): void {
		const { state, round } = this;
		if (state?.phase !== "RUNNING" || round === undefined) return;
		const { movedAt } = this.readers;
		if (this.isAsking || this.known.isQuiet(movedAt, now)) return;
		if (this.standstill(now).kind === "fine") return;
		this.isAsking = true;
		void this.inquire(state, round).then(({ again, hang }) => {
			this.isAsking = false;
			// It is about a round that is over.
			if (this.round !== round) return;
			if (this.known.note(movedAt, again, hang) && hang !== undefined) {
				this.options.onHang(hang.kind);
			}
		});
	}

	private async inquire(state: Running, round: object): Promise<Inquired> {
		const { movedAt } = this.readers;
		const { room, clock } = this.options;
		// A disk may have filled up since it was last looked at, and have lost the steps.
		await room.look();
		const now = clock.now();
		const standstill = this.standstill(now);
		if (standstill.kind === "fine") return { again: now, hang: undefined };
		const news = () => {
			if (this.round !== round) return "over";
			this.readers.look();
			const hasMoved = this.readers.movedAt !== movedAt;
			return hasMoved || this.readers.isBusy ? "moved" : undefined;
		};
		return this.options.onStill(standstill, state, this.progress(), news);
	}

	private standstill(now: number): Standstill {
		const { steps } = this.options.config;
		const { watched } = this;
		if (watched === undefined) return { kind: "fine" };
		return judgeStandstill(watched, steps, this.countsSteps, now);
	}

	private get watched(): readonly WatchedWorker[] | undefined {
		const { state, round, readers } = this;
		if (state?.phase !== "RUNNING" || round === undefined) return undefined;
		const { processes, room } = this.options;
		return watchedWorkers(state.workers, processes(), readers, {
			...{ since: round.since, wokeAt: this.wokeAt },
			lostUntil: (source) => room.lostUntil(source),
		});
	}
}
