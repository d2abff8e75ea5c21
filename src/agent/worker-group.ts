import type { WorkerInfo } from "../channel/events.js";
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
	/** Told right before the first of a round's workers is spawned. */
	readonly onSpawning: () => void;
	/** Told once a round's workers have been spawned, with their pids by local rank. */
	readonly onStarted: (
		round: RoundRecord,
		pids: readonly (number | null)[],
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
	readonly info: WorkerInfo;
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

	start(round: RoundRecord, seat: SeatRecord): void {
		const members = Array.from({ length: seat.localWorldSize }, (_, rank) =>
			newMember(workerInfo(this.options.runId, round, seat, rank)),
		);
		this.members = new Map(
			members.map((member) => [member.info.localRank, member]),
		);
		const oomKills = this.options.readOomKills();
		const failed = inBatches(
			members,
			BATCH,
			({ info }) => this.options.prepare(info, round),
			(member, prepared) => {
				if (member === members[0]) this.options.onSpawning();
				this.spawn(member, prepared, oomKills);
			},
		);
		if (failed) this.giveUp(failed.left, failed.error);
		this.options.onStarted(
			round,
			this.results.map(({ pid }) => pid),
		);
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

	private signal(
		localRanks: readonly number[],
		signal: "SIGTERM" | "SIGKILL",
	): void {
		for (const localRank of localRanks) {
			this.members.get(localRank)?.handle?.signal(signal);
		}
	}
}

function newMember(info: WorkerInfo): Member {
	return {
		info,
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
