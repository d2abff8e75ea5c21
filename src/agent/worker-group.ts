import type {
	ReceivedReply,
	WorkerInfo,
	WorldChangeEvent,
} from "../channel/events.js";
import type { Clock } from "../clock.js";
import { messageOf } from "../errors.js";
import type { RoundRecord, SeatRecord } from "../rendezvous/records.js";
import { workerInfo } from "./assign-ranks.js";
import { inBatches } from "./in-batches.js";
import type { AgentInput } from "./inputs.js";
import type { WorkerResult } from "./report/run-report.js";
import type { WorkerSpawner } from "./supervision/worker.js";
import { tellInTurns } from "./tell-in-turns.js";
import {
	type PauseNotice,
	type PreparedWorker,
	WorkerMember,
} from "./worker-member.js";

export interface WorkerGroupOptions {
	readonly runId: string;
	readonly clock: Clock;
	readonly spawner: WorkerSpawner;
	/** Makes a worker's channel, logs and environment. Throws where the disk does not allow it. */
	readonly prepare: (info: WorkerInfo, round: RoundRecord) => PreparedWorker;
	/** The control group's count of out-of-memory kills. */
	readonly readOomKills: () => number | undefined;
	/** Told right before a round's workers begin. */
	readonly onSpawning: () => void;
	/** Told once a round's workers work, with them by local rank, and how many of them were kept. */
	readonly onStarted: (
		round: RoundRecord,
		workers: readonly Pick<WorkerResult, "pid" | "rank">[],
		kept: number,
	) => void;
	readonly dispatch: (input: AgentInput) => void;
}

/**
 * So many workers are prepared, and then spawned, at a time. After a fork the next
 * writes to memory are slow, so that little else should come between two of them;
 * but each worker that waits for its spawn holds two descriptors.
 */
const BATCH = 32;

/** The worker processes of one round on this node. It starts, signals and reports; it decides nothing. */
export class WorkerGroup {
	private members = new Map<number, WorkerMember>();

	constructor(private readonly options: WorkerGroupOptions) {}

	/** How the workers of the newest round ended so far. */
	get results(): readonly WorkerResult[] {
		return [...this.members.values()].map((member) => member.result);
	}

	/** A round begins: those that were kept get WORK, with why they were paused; the others are started. */
	start(
		round: RoundRecord,
		seat: SeatRecord,
		kept: ReadonlyMap<number, WorldChangeEvent>,
	): void {
		const all = Array.from({ length: seat.localWorldSize }, (_, rank) =>
			this.memberFor(round, seat, rank, kept.has(rank)),
		);
		this.members = new Map(
			all.map((member) => [member.info.localRank, member]),
		);
		const oomKills = this.options.readOomKills();
		if (kept.size > 0) this.options.onSpawning();
		const wake = ([localRank]: readonly [number, unknown]) =>
			this.ring(localRank);
		tellInTurns(
			[...kept],
			([localRank, change]) =>
				this.tell(localRank, (member) => member.work(round, change)),
			wake,
		).forEach(wake);
		const members = all.filter(({ info }) => !kept.has(info.localRank));
		const failed = inBatches(
			members,
			BATCH,
			({ info }) => this.options.prepare(info, round),
			(member, prepared) => {
				if (member === all[0] && kept.size === 0) this.options.onSpawning();
				this.spawn(member, prepared, oomKills);
			},
		);
		if (failed) this.giveUp(failed.left, failed.error);
		this.options.onStarted(round, this.results, kept.size);
	}

	/**
	 * PAUSE: their round is being left. The last are woken when the word that this node is
	 * ready is on its way: it needs none of them, and they would take the processors.
	 */
	pause(localRanks: readonly number[], notice: PauseNotice): void {
		const toldLast = tellInTurns(
			localRanks,
			(localRank) => this.tell(localRank, (member) => member.pause(notice)),
			this.ring,
		);
		const { clock } = this.options;
		clock.wakeAt(clock.now(), () => toldLast.forEach(this.ring));
	}

	/** What a worker has said in its channel. */
	hear(directory: string, reply: ReceivedReply): void {
		const member = [...this.members.values()].find((one) =>
			one.hasChannel(directory),
		);
		const input = member?.inputOf(reply);
		if (input !== undefined) this.options.dispatch(input);
	}

	/** SIGTERM to the process groups of these workers. */
	terminate(localRanks: readonly number[]): void {
		this.signal(localRanks, "SIGTERM");
	}

	kill(localRanks: readonly number[]): void {
		this.signal(localRanks, "SIGKILL");
	}

	/** The first of these could not even be prepared, for want of the disk or of descriptors. */
	private giveUp(members: readonly WorkerMember[], error: unknown): void {
		const { dispatch } = this.options;
		const problem = { code: "UNPREPARED", message: messageOf(error) };
		for (const [index, { info }] of members.entries()) {
			const { localRank } = info;
			if (index === 0) {
				dispatch({ kind: "worker-not-started", localRank, problem });
			}
			dispatch({ kind: "worker-gone", localRank });
		}
	}

	private spawn(
		member: WorkerMember,
		prepared: PreparedWorker,
		oomKills: number | undefined,
	): void {
		const { dispatch, spawner, readOomKills } = this.options;
		const { localRank } = member.info;
		const handle = spawner.spawn(prepared.spec, {
			spawnFailed: (problem) =>
				dispatch({ kind: "worker-not-started", localRank, problem }),
			exited: (exit, groupRemains) => {
				member.hearLast();
				const now = readOomKills;
				dispatch(member.exited(exit, groupRemains, { before: oomKills, now }));
			},
			gone: () => {
				prepared.discard();
				dispatch({ kind: "worker-gone", localRank });
			},
		});
		member.started(prepared, handle);
		prepared.release();
		const { pid } = handle;
		if (pid === undefined) return;
		dispatch({ kind: "worker-started", localRank, pid });
	}

	killAll(): void {
		this.kill([...this.members.keys()]);
	}

	/** The worker process that is kept for this place, or a new one. */
	private memberFor(
		round: RoundRecord,
		seat: SeatRecord,
		localRank: number,
		isKept: boolean,
	): WorkerMember {
		const info = workerInfo(this.options.runId, round, seat, localRank);
		const member = isKept ? this.members.get(localRank) : undefined;
		if (member === undefined) return new WorkerMember(info, round.instance);
		member.moveTo(info, round.instance);
		return member;
	}

	private readonly ring = (localRank: number): void =>
		this.members.get(localRank)?.ring();

	/** A worker that cannot be told is the agent's to decide on. */
	private tell(localRank: number, say: (member: WorkerMember) => void): void {
		const member = this.members.get(localRank);
		if (member === undefined) return;
		try {
			say(member);
		} catch (error) {
			const problem = messageOf(error);
			this.options.dispatch({ kind: "worker-not-told", localRank, problem });
		}
	}

	private signal(
		localRanks: readonly number[],
		signal: "SIGTERM" | "SIGKILL",
	): void {
		for (const localRank of localRanks) {
			this.members.get(localRank)?.signal(signal);
		}
	}
}

/** A round's workers have begun, in words. */
export function describeStart(
	{ synced, world }: RoundRecord,
	workers: number,
	kept: number,
): string {
	const of = `of ${world?.worldSize ?? 0} workers`;
	return kept === 0
		? `round ${synced}: started ${workers} ${of}`
		: `round ${synced}: ${kept} go on, ${workers - kept} started, ${of}`;
}
