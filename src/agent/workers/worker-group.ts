import { messageOf } from "../../base/errors.js";
import {
	type ReceivedReply,
	type WorkerInfo,
	type WorldChangeEvent,
	workerInfoOf,
} from "../../channel/index.js";
import type { RoundRecord, SeatRecord } from "../../rendezvous/index.js";
import type { WorkerResult } from "../../status/index.js";
import {
	type MachineNotice,
	type PauseNotice,
	Worker,
	type WorkerSurroundings,
} from "./worker.js";
import type { WorkerProcess, WorkerWords } from "./worker-process.js";
import { WorkerStarts, type WorkerStartsOptions } from "./worker-starts.js";

export interface WorkerGroupOptions
	extends WorkerSurroundings,
		Omit<WorkerStartsOptions, "workplace"> {
	readonly runId: string;
	/** Also sent to the workers' leaders at a notice. */
	readonly noticeSignal?: NodeJS.Signals | undefined;
	/** Called just before a round's workers begin. */
	readonly onSpawning: () => void;
	/** Called once a round's workers work, with the workers by local rank, how many were kept and how many had ended. */
	readonly onStarted: (
		round: RoundRecord,
		workers: readonly Pick<WorkerResult, "pid" | "rank">[],
		kept: number,
		ended: number,
	) => void;
}

/** The worker processes of one round on this node. It starts, signals and reports; it decides nothing. */
export class WorkerGroup {
	/** By local rank. */
	private workers = new Map<number, Worker>();
	private readonly starts: WorkerStarts;

	constructor(private readonly options: WorkerGroupOptions) {
		this.starts = new WorkerStarts(options);
	}

	/** How the workers of the newest round ended so far. */
	get results(): readonly WorkerResult[] {
		return [...this.workers.values()].map(({ result }) => result);
	}

	/** The processes of the newest round, by local rank. */
	get processes(): readonly WorkerProcess[] {
		return [...this.workers.values()].flatMap(({ process }) => process ?? []);
	}

	/** What is left of the output of the worker with this pid; undefined if it is not of the newest round. */
	wordsOf(pid: number): WorkerWords | undefined {
		const isMeant = ({ result }: Worker) => result.pid === pid;
		return [...this.workers.values()].find(isMeant)?.words;
	}

	/** Begins a round: kept workers get WORK with the reason of their PAUSE; those that have ended stay so; the others are started. */
	start(
		round: RoundRecord,
		seat: SeatRecord,
		kept: ReadonlyMap<number, WorldChangeEvent>,
		ended: readonly number[] = [],
	): void {
		const stays = (localRank: number) =>
			kept.has(localRank) || ended.includes(localRank);
		const all = Array.from({ length: seat.localWorldSize }, (_, rank) =>
			this.workerFor(round, seat, rank, stays(rank)),
		);
		this.workers = new Map(
			all.map((worker) => [worker.info.localRank, worker]),
		);
		if (kept.size > 0) this.options.onSpawning();
		const wake = ([localRank]: readonly [number, unknown]) =>
			this.ring(localRank);
		tellInTurns(
			[...kept],
			([localRank, change]) =>
				this.notify(localRank, (worker) => worker.work(round, change)),
			wake,
		).forEach(wake);
		this.starts.begin(
			round,
			all.filter(({ info }) => !stays(info.localRank)),
			kept.size === 0 ? this.options.onSpawning : () => {},
			() => {
				const { results } = this;
				this.options.onStarted(round, results, kept.size, ended.length);
			},
		);
	}

	/**
	 * PAUSE: their round is being left. The last ones are woken after the node's record is written: they would take the
	 * processors from it.
	 */
	pause(localRanks: readonly number[], notice: PauseNotice): void {
		const last = tellInTurns(
			localRanks,
			(localRank) => this.notify(localRank, (worker) => worker.pause(notice)),
			this.ring,
		);
		const { clock } = this.options;
		clock.wakeAt(clock.now(), () => last.forEach(this.ring));
	}

	/** Their machine goes, or stays. A worker that cannot be notified gets SIGTERM in time all the same. */
	notice(
		localRanks: readonly number[],
		notice: MachineNotice & { readonly isFirst: boolean },
	): void {
		const { noticeSignal, log } = this.options;
		for (const localRank of localRanks) {
			const worker = this.workers.get(localRank);
			try {
				worker?.notify(notice);
				worker?.ring();
			} catch (error) {
				log.warn(
					`local rank ${localRank} cannot be told the notice: ${messageOf(error)}`,
				);
			}
			if (notice.isFirst && noticeSignal) worker?.passOn(noticeSignal);
		}
	}

	/** Hands a reply in this channel to its worker. */
	readonly receive = (directory: string, reply: ReceivedReply): void => {
		[...this.workers.values()]
			.find((worker) => worker.hasChannel(directory))
			?.receive(reply);
	};

	/** Asks the process groups of these workers to end. */
	terminate(
		localRanks: readonly number[],
		signal: NodeJS.Signals = "SIGTERM",
	): void {
		this.signal(localRanks, signal);
	}

	kill(localRanks: readonly number[]): void {
		this.signal(localRanks, "SIGKILL");
	}

	/** Passes a signal of the launcher on to the workers. Returns the ranks that received it. */
	passOn(signal: NodeJS.Signals): readonly number[] {
		return [...this.workers.values()]
			.filter((worker) => worker.passOn(signal))
			.map(({ info }) => info.rank);
	}

	killAll(): void {
		this.kill([...this.workers.keys()]);
	}

	/** The worker kept for this place, or a new one. */
	private workerFor(
		round: RoundRecord,
		seat: SeatRecord,
		localRank: number,
		isKept: boolean,
	): Worker {
		const info = workerInfo(this.options.runId, round, seat, localRank);
		const worker = isKept ? this.workers.get(localRank) : undefined;
		if (worker === undefined) {
			return new Worker(info, round.instance, this.options);
		}
		worker.moveTo(info, round.instance);
		return worker;
	}

	private readonly ring = (localRank: number): void =>
		this.workers.get(localRank)?.ring();

	/** If a worker cannot be notified, the agent decides. */
	private notify(localRank: number, send: (worker: Worker) => void): void {
		const worker = this.workers.get(localRank);
		if (worker === undefined) return;
		try {
			send(worker);
		} catch (error) {
			const problem = messageOf(error);
			this.options.dispatch({ kind: "worker-not-told", localRank, problem });
		}
	}

	private signal(localRanks: readonly number[], signal: NodeJS.Signals): void {
		for (const localRank of localRanks) {
			const worker = this.workers.get(localRank);
			if (worker === undefined) continue;
			worker.signal(signal);
			if (this.starts.cancel(worker)) {
				this.options.dispatch({ kind: "worker-gone", localRank });
			}
		}
	}
}

/** A worker's place: the round's figures, and its seat's first ranks plus its local rank. */
export function workerInfo(
	runId: string,
	round: RoundRecord,
	seat: SeatRecord,
	localRank: number,
): WorkerInfo {
	const { world } = round;
	if (world === null) {
		throw new Error(`round ${round.synced} is synced without a world`);
	}
	return workerInfoOf({
		localRank,
		roleRank: seat.firstRoleRank + localRank,
		rank: seat.firstRank + localRank,
		localWorldSize: seat.localWorldSize,
		roleWorldSize: world.roleWorldSizes[seat.role] ?? seat.localWorldSize,
		worldSize: world.worldSize,
		groupRank: seat.groupRank,
		groupWorldSize: world.groupWorldSize,
		role: seat.role,
		masterAddr: world.masterAddr,
		masterPort: world.masterPort,
		round: round.synced,
		restartCount: round.incidents,
		runId,
	});
}

/**
 * So many get their message before the first of them is woken. A woken receiver takes a processor from the sender, but
 * the first one must not wait until many have their message.
 */
const TOLD_TOGETHER = 2;

/**
 * Sends to all in order, and wakes earlier receivers meanwhile.
 * @returns the last few receivers, which still have to be woken
 */
function tellInTurns<Item>(
	all: readonly Item[],
	tell: (item: Item) => void,
	wake: (item: Item) => void,
): readonly Item[] {
	const told: Item[] = [];
	for (const item of all) {
		if (told.length === TOLD_TOGETHER) told.splice(0).forEach(wake);
		tell(item);
		told.push(item);
	}
	return told;
}
