import type {
	ReceivedReply,
	WorkerInfo,
	WorldChangeEvent,
} from "../channel/events.js";
import type { OutgoingEvent } from "../channel/worker-channel.js";
import type { Clock } from "../clock.js";
import { messageOf } from "../errors.js";
import type { RoundRecord, SeatRecord } from "../rendezvous/records.js";
import { workerInfo } from "./assign-ranks.js";
import { inBatches } from "./in-batches.js";
import type { WorkerError, WorkerResult } from "./report/run-report.js";
import type { AgentInput } from "./state.js";
import { describeExit } from "./supervision/describe-exit.js";
import type {
	WorkerExit,
	WorkerHandle,
	WorkerSpawner,
	WorkerSpec,
} from "./supervision/worker.js";

/** One worker with all that it needs on disk. */
export interface PreparedWorker {
	readonly spec: WorkerSpec;
	/** Its channel. */
	readonly directory: string;
	/** Writes an event to its channel. Throws where the disk does not take it. */
	tell(event: OutgoingEvent): void;
	/** It has another place in the world. */
	moved(info: WorkerInfo): void;
	/** The worker has been spawned, or could not be: what was opened for it alone is closed. */
	release(): void;
	/** What it said of its own failure. */
	readError(): WorkerError | undefined;
	/** None of its processes is left. */
	discard(): void;
}

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
	/** Told once a round's workers work, with their pids by local rank, and how many of them were kept. */
	readonly onStarted: (
		round: RoundRecord,
		pids: readonly (number | null)[],
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

interface Member {
	info: WorkerInfo;
	instance: number;
	prepared: PreparedWorker | undefined;
	handle: WorkerHandle | undefined;
	result: WorkerResult;
}

/** The worker processes of one round on this node. It starts, signals and reports; it decides nothing. */
export class WorkerGroup {
	private members = new Map<number, Member>();

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
		for (const [localRank, change] of kept) this.work(localRank, round, change);
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
		this.options.onStarted(
			round,
			this.results.map(({ pid }) => pid),
			kept.size,
		);
	}

	/** PAUSE: their round is being left. */
	pause(
		localRanks: readonly number[],
		notice: { readonly change: WorldChangeEvent; readonly reason: string },
	): void {
		for (const localRank of localRanks) {
			const member = this.members.get(localRank);
			if (member === undefined) continue;
			const { info, instance } = member;
			this.tell(member, {
				kind: "PAUSE",
				workerState: "PAUSED",
				changeEvent: notice.change,
				instance,
				round: info.round,
				reason: notice.reason,
				workerInfo: info,
			});
		}
	}

	/** What a worker has said in its channel. */
	hear(directory: string, reply: ReceivedReply): void {
		const { dispatch } = this.options;
		const member = [...this.members.values()].find(
			({ prepared }) => prepared?.directory === directory,
		);
		if (member === undefined) return;
		const { localRank } = member.info;
		if (reply.kind === "HELLO") dispatch({ kind: "worker-greeted", localRank });
		if (reply.kind === "ACK") {
			const { event } = reply;
			dispatch({ kind: "worker-acknowledged", localRank, event });
		}
		if (reply.kind === "WAITING") {
			dispatch({ kind: "worker-waits", localRank, round: reply.round });
		}
	}

	/** SIGTERM to the process groups of these workers. */
	terminate(localRanks: readonly number[]): void {
		this.signal(localRanks, "SIGTERM");
	}

	kill(localRanks: readonly number[]): void {
		this.signal(localRanks, "SIGKILL");
	}

	/** The first of these could not even be prepared, for want of the disk or of descriptors. */
	private giveUp(members: readonly Member[], error: unknown): void {
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
		member: Member,
		prepared: PreparedWorker,
		oomKillsBefore: number | undefined,
	): void {
		const { dispatch, spawner } = this.options;
		const { localRank } = member.info;
		member.prepared = prepared;
		member.handle = spawner.spawn(prepared.spec, {
			spawnFailed: (problem) =>
				dispatch({ kind: "worker-not-started", localRank, problem }),
			exited: (exit, groupRemains) =>
				dispatch(
					this.exited(member, exit, groupRemains, prepared, oomKillsBefore),
				),
			gone: () => {
				prepared.discard();
				dispatch({ kind: "worker-gone", localRank });
			},
		});
		prepared.release();
		const { pid } = member.handle;
		if (pid === undefined) return;
		member.result = { ...member.result, pid };
		dispatch({ kind: "worker-started", localRank, pid });
	}

	private exited(
		member: Member,
		exit: WorkerExit,
		groupRemains: boolean,
		prepared: PreparedWorker,
		oomKillsBefore: number | undefined,
	): AgentInput {
		const { readOomKills } = this.options;
		const { exitCode, description, hint } = describeExit(exit, {
			before: oomKillsBefore,
			// Read only where a kill has to be explained.
			get now() {
				return readOomKills();
			},
		});
		member.result = {
			...member.result,
			exitCode,
			signal: exit.signal,
			collateral: exit.sentByUs,
		};
		return {
			kind: "worker-exited",
			localRank: member.info.localRank,
			pid: member.handle?.pid ?? null,
			exit,
			exitCode,
			description,
			hint,
			error: exitCode === 0 ? undefined : prepared.readError(),
			groupRemains,
		};
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
	): Member {
		const info = workerInfo(this.options.runId, round, seat, localRank);
		const member = isKept ? this.members.get(localRank) : undefined;
		if (member === undefined) return newMember(info, round.instance);
		member.info = info;
		member.instance = round.instance;
		member.result = { ...member.result, rank: info.rank };
		member.prepared?.moved(info);
		return member;
	}

	private work(
		localRank: number,
		round: RoundRecord,
		change: WorldChangeEvent,
	): void {
		const member = this.members.get(localRank);
		if (member === undefined) return;
		this.tell(member, {
			kind: "WORK",
			workerState: "HEALTHY",
			changeEvent: change,
			instance: round.instance,
			round: member.info.round,
			reason: round.cause.reason,
			workerInfo: member.info,
		});
	}

	private tell(member: Member, event: OutgoingEvent): void {
		const { localRank } = member.info;
		try {
			member.prepared?.tell(event);
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
			this.members.get(localRank)?.handle?.signal(signal);
		}
	}
}

function newMember(info: WorkerInfo, instance: number): Member {
	return {
		info,
		instance,
		prepared: undefined,
		handle: undefined,
		result: {
			rank: info.rank,
			localRank: info.localRank,
			pid: null,
			exitCode: null,
			signal: null,
			collateral: false,
		},
	};
}
