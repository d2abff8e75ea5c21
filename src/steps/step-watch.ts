import { type Clock, onBeat } from "../base/clock.js";
import type { ReceivedReply } from "../channel/index.js";
import type {
	ProgressRecord,
	Straggler,
	Topic,
	WorkerProgress,
} from "../model/index.js";
import {
	isRunning,
	type NodeProcess,
	type NodeState,
	type RunningNode,
} from "./node.js";
import type { RoundLedger } from "./round-ledger.js";
import type { WorkerReaders } from "./worker-readers.js";

/** How often the sources of steps are read, in milliseconds, once a worker makes steps … */
const READ_EVERY_MS = 1_000;
/** … and before: after this part of the round's time, so that the time of the first step is off by no more. */
const PAUSE_PER_TIME = 1 / 20;
const LONGEST_PAUSE_MS = 5_000;
/** The least time between two records, in milliseconds. */
const PUBLISH_EVERY_MS = 2_000;

/** What judges whether a node's workers stand still. */
export interface StandstillJudge {
	/** When they do unless a step comes before: this moment is not missed. 0: it is not known. */
	readonly stillFrom: number;
	/** What it adds to the node's record. */
	readonly found: Partial<ProgressRecord>;
	/** Called after each look, which came late by so many milliseconds. */
	check(lateMs: number): void;
}

export interface StepWatchOptions {
	readonly clock: Clock;
	readonly nodeId: string;
	readonly readers: WorkerReaders;
	readonly processes: () => readonly NodeProcess[];
	/** Passes on now what the present workers have reported and nobody has read. */
	readonly readReports: () => void;
	readonly progress: Pick<Topic<ProgressRecord>, "publish">;
	/** The straggler of the run, if this node is the one that looks for it. */
	readonly straggler: (node: RunningNode) => Straggler | undefined;
	/** Counts what the time is spent on. */
	readonly ledger: Pick<RoundLedger, "follow" | "announced">;
	readonly judge: StandstillJudge;
	/** Called at each look while a round runs. */
	readonly onLook: (
		workers: readonly WorkerProgress[],
		straggler: Straggler | undefined,
	) => void;
}

/** Follows the steps of a node's workers while their round runs, and publishes them. */
export class StepWatch {
	private node: NodeState | undefined;
	/** The round that is watched, and since when; undefined: none runs. */
	private round:
		| { readonly number: number; readonly since: number }
		| undefined;
	/** The newest round that was watched. */
	private latest = 0;
	private cancelLook: (() => void) | undefined;
	private lookAt = 0;
	private publishedAt = Number.NEGATIVE_INFINITY;
	private published = "";

	constructor(private readonly options: StepWatchOptions) {}

	/** Takes each new state of the node. */
	follow(node: NodeState): void {
		const { readReports, readers, ledger } = this.options;
		this.node = node;
		const number = node.phase === "RUNNING" ? node.round : undefined;
		const isSame = number === this.round?.number;
		if (!isSame && this.round !== undefined) {
			// The last steps of the round that is left belong to it.
			readReports();
			readers.look();
		}
		ledger.follow(node);
		if (isSame) return;
		if (number === undefined) this.close();
		else this.begin(number);
	}

	/** The round that runs here; 0 if none does. */
	get place(): { readonly instance: number; readonly round: number } {
		const instance = this.node?.instance ?? 0;
		return { instance, round: this.round?.number ?? 0 };
	}

	/** Takes a worker's reply. */
	heard(directory: string, reply: ReceivedReply): void {
		if (reply.kind !== "PROGRESS") return;
		const { clock, ledger, processes, readers } = this.options;
		const process = processes().find((one) => one.directory === directory);
		if (process === undefined) return;
		const now = clock.now();
		if (this.round === undefined) {
			// Its steps are of no round; but one that must end may save before.
			readers.heard(process, { ...reply, step: undefined }, now);
			return;
		}
		const lateMs = clock.wallTime() - reply.timestamp;
		// It was said in this round, and not in the future.
		const at = Math.min(now, Math.max(this.round.since, now - lateMs));
		readers.heard(process, reply, at);
		ledger.announced(directory, reply, at);
		if (this.lookAt > now + READ_EVERY_MS) this.lookLater();
	}

	/** How far the workers of the present round have come, after a last look at what ended workers have left. */
	lastProgress(): readonly WorkerProgress[] {
		this.options.readers.look();
		return this.options.readers.progress();
	}

	/** The last step of the worker in this place, after a last look at it; undefined if it tells nothing. */
	stepOf(localRank: number): number | undefined {
		return this.options.readers.stepOf(localRank);
	}

	/** How far the newest round has come here, null if a worker has gone back; undefined if no worker counts steps. */
	get reached():
		| { readonly round: number; readonly step: number | null }
		| undefined {
		this.options.readers.look();
		const { furthest: step } = this.options.readers;
		return step === undefined ? undefined : { round: this.latest, step };
	}

	/** No round runs: nothing is read, and no timer wakes the agent. */
	readonly close = (): void => {
		this.round = undefined;
		this.cancelLook?.();
		this.cancelLook = undefined;
	};

	private begin(number: number): void {
		this.round = { number, since: this.options.clock.now() };
		this.latest = number;
		this.options.readers.beginRound();
		this.lookLater();
	}

	private lookLater(): void {
		const { clock, readers, judge } = this.options;
		this.cancelLook?.();
		const now = clock.now();
		const isNew = readers.movedAt === undefined;
		const since = isNew ? this.round?.since : now;
		this.lookAt = nextLook(now, since, judge.stillFrom);
		this.cancelLook = clock.wakeAt(this.lookAt, this.look);
	}

	private readonly look = () => {
		const { clock, readers, judge } = this.options;
		const lateMs = clock.now() - this.lookAt;
		readers.look();
		if (isRunning(this.node)) this.publish(this.node);
		judge.check(lateMs);
		if (this.round !== undefined) this.lookLater();
	};

	/** Publishes the steps if they have changed, and not often. */
	private publish(node: RunningNode): void {
		const { clock, readers, judge, progress, nodeId, onLook } = this.options;
		const workers = withEnds(readers.progress(), node);
		// Without steps there is nothing to compare, and the store is left alone.
		const isCounting = workers.length > 0;
		const straggler = isCounting ? this.options.straggler(node) : undefined;
		onLook(workers, straggler);
		const { instance, round } = this.place;
		const { found } = judge;
		const { busyUntil } = readers;
		const busy = readers.busy();
		const now = clock.now();
		const isEarly = now - this.publishedAt < PUBLISH_EVERY_MS;
		if (isEarly || (!isCounting && busyUntil === undefined)) return;
		const steps = workers.map(
			({ localRank, step, ended }) => `${localRank}:${ended ?? ""}${step}`,
		);
		const news = `${instance} ${round} ${steps.join()} ${JSON.stringify([found, busy])} ${busyUntil}`;
		if (news === this.published) return;
		this.published = news;
		this.publishedAt = now;
		void progress.publish({
			version: 1,
			nodeId,
			instance,
			round,
			firstRank: node.seat.firstRank,
			workers,
			straggler,
			busyUntil,
			...(busy.length > 0 && { busy }),
			...found,
		});
	}
}

/** Says which of these workers have ended. */
function withEnds(
	progress: readonly WorkerProgress[],
	{ workers }: NodeState,
): readonly WorkerProgress[] {
	const ended = workers
		.filter(({ status }) => status === "exited" || status === "gone")
		.map(({ localRank }) => localRank);
	return progress.map((one) =>
		ended.includes(one.localRank) ? { ...one, ended: true } : one,
	);
}

/**
 * @param since since when a first step is waited for
 * @param stillFrom when the workers stand still unless a step comes: this moment is not missed
 */
export function nextLook(now: number, since = now, stillFrom = 0): number {
	const partMs = Math.min((now - since) * PAUSE_PER_TIME, LONGEST_PAUSE_MS);
	const pauseMs = Math.max(READ_EVERY_MS, partMs);
	const usual = onBeat(now + pauseMs, pauseMs);
	return stillFrom > now ? Math.min(stillFrom, usual) : usual;
}
