import type {
	ReceivedReply,
	WorkerInfo,
	WorldChangeEvent,
} from "../channel/events.js";
import type { OutgoingEvent } from "../channel/worker-channel.js";
import type { RoundRecord } from "../rendezvous/records.js";
import type { AgentInput } from "./inputs.js";
import type { WorkerError, WorkerResult } from "./report/run-report.js";
import { describeExit } from "./supervision/describe-exit.js";
import type {
	WorkerExit,
	WorkerHandle,
	WorkerSpec,
} from "./supervision/worker.js";

/** One worker with all that it needs on disk. */
export interface PreparedWorker {
	readonly spec: WorkerSpec;
	/** Its channel. */
	readonly directory: string;
	/** Writes an event to its channel. Throws where the disk does not take it. */
	tell(event: OutgoingEvent): void;
	/** Wakes it to what it was told. */
	ring(): void;
	/** It has another place in the world. */
	moved(info: WorkerInfo): void;
	/** The worker has been spawned, or could not be: what was opened for it alone is closed. */
	release(): void;
	/** What it has said in its channel is heard now. */
	hear(): void;
	/** What it said of its own failure. */
	readError(): WorkerError | undefined;
	/** None of its processes is left. */
	discard(): void;
}

/** Why a worker is paused. */
export interface PauseNotice {
	readonly change: WorldChangeEvent;
	readonly reason: string;
}

/** The control group's count of out-of-memory kills: when the round began, and when it is asked for. */
export interface OomKills {
	readonly before: number | undefined;
	readonly now: () => number | undefined;
}

/** One worker process: its place in the world, and what has become of it. */
export class WorkerMember {
	result: WorkerResult;
	private prepared: PreparedWorker | undefined;
	private handle: WorkerHandle | undefined;

	constructor(
		public info: WorkerInfo,
		private instance: number,
	) {
		this.result = {
			rank: info.rank,
			localRank: info.localRank,
			pid: null,
			exitCode: null,
			signal: null,
			collateral: false,
		};
	}

	started(prepared: PreparedWorker, handle: WorkerHandle): void {
		this.prepared = prepared;
		this.handle = handle;
		const { pid = null } = handle;
		this.result = { ...this.result, pid };
	}

	/** Its process is kept for another round. */
	moveTo(info: WorkerInfo, instance: number): void {
		this.info = info;
		this.instance = instance;
		this.result = { ...this.result, rank: info.rank };
		this.prepared?.moved(info);
	}

	/** Throws where the disk does not take it. */
	pause({ change, reason }: PauseNotice): void {
		this.tell({
			kind: "PAUSE",
			workerState: "PAUSED",
			changeEvent: change,
			reason,
		});
	}

	/** Throws where the disk does not take it. `change`: why it was paused. */
	work({ cause }: RoundRecord, change: WorldChangeEvent): void {
		this.tell({
			kind: "WORK",
			workerState: "HEALTHY",
			changeEvent: change,
			reason: cause.reason,
		});
	}

	ring(): void {
		this.prepared?.ring();
	}

	signal(signal: "SIGTERM" | "SIGKILL"): void {
		this.handle?.signal(signal);
	}

	hasChannel(directory: string): boolean {
		return this.prepared?.directory === directory;
	}

	/** What a reply means to the agent; undefined where it is nothing to act on. */
	inputOf(reply: ReceivedReply): AgentInput | undefined {
		const { localRank } = this.info;
		switch (reply.kind) {
			case "HELLO":
				return { kind: "worker-greeted", localRank };
			case "ACK":
				return { kind: "worker-acknowledged", localRank, event: reply.event };
			case "WAITING":
				return { kind: "worker-waits", localRank, round: reply.round };
			case "WAITED":
				return { kind: "worker-waits", localRank, round: null };
			case "WORKING":
				return { kind: "worker-works", localRank, round: reply.round };
			case "PROGRESS":
			case "ERROR":
				return undefined;
			default:
				return reply satisfies never;
		}
	}

	/** What its leader said last counts before its end does. */
	hearLast(): void {
		this.prepared?.hear();
	}

	/** Its leader has ended. */
	exited(
		exit: WorkerExit,
		groupRemains: boolean,
		oomKills: OomKills,
	): AgentInput {
		const program = this.prepared?.spec.file;
		const { exitCode, description, hint } = describeExit(exit, program, {
			before: oomKills.before,
			// Read only where a kill has to be explained.
			get now() {
				return oomKills.now();
			},
		});
		this.result = {
			...this.result,
			exitCode,
			signal: exit.signal,
			collateral: exit.sentByUs,
		};
		return {
			kind: "worker-exited",
			localRank: this.info.localRank,
			pid: this.handle?.pid ?? null,
			exit,
			exitCode,
			description,
			hint,
			error: exitCode === 0 ? undefined : this.prepared?.readError(),
			groupRemains,
		};
	}

	private tell(
		message: Omit<OutgoingEvent, "instance" | "round" | "workerInfo">,
	): void {
		const { round } = this.info;
		const place = { instance: this.instance, round, workerInfo: this.info };
		this.prepared?.tell({ ...message, ...place });
	}
}
