import type {
	NoticeState,
	ReceivedReply,
	WorkerInfo,
	WorkerState,
	WorldChangeEvent,
} from "../../channel/events.js";
import type { OutgoingEvent } from "../../channel/worker-channel.js";
import type { RoundRecord } from "../../rendezvous/records/records.js";
import { lastLines } from "../../report/last-lines.js";
import type { WorkerResult } from "../../report/run-report.js";
import type { OomKills } from "../../supervision/describe-exit.js";
import type { WorkerExit, WorkerHandle } from "../../supervision/worker.js";
import type { AgentInput } from "../machine/inputs.js";
import { explainEnd } from "./explain-end.js";
import type { PreparedWorker } from "./prepared-worker.js";

/** What is left of one worker's output. */
export interface WorkerWords {
	/** Its log directory, the same since its start. */
	readonly directory: string;
	/** The path of its stderr; undefined if that is not a file. */
	readonly logFile: string | undefined;
	/** The last lines of its stderr, if that file had been removed or renamed when the worker ended. */
	readonly lostLines: readonly string[] | undefined;
}

/** One worker process, as others see it. */
export interface WorkerProcess {
	readonly localRank: number;
	readonly rank: number;
	readonly pid: number;
	/** Its channel directory; no two processes have the same. */
	readonly directory: string;
	readonly logs: PreparedWorker["logs"] | undefined;
}

/** Why a worker is paused. */
export interface PauseNotice {
	readonly change: WorldChangeEvent;
	readonly reason: string;
}

/** Why a worker's machine will go; with the source null, it stays. */
export type MachineNotice = Omit<NoticeState, "sequence">;

/** One worker process: its place in the world, and its state. */
export class WorkerMember {
	result: WorkerResult;
	/** It was told to end. */
	isToEnd = false;
	private state: WorkerState = "HEALTHY";
	private lostLines: readonly string[] | undefined;
	private prepared: PreparedWorker | undefined;
	private handle: WorkerHandle | undefined;
	/** A notice that came before its process was prepared. */
	private untold: MachineNotice | undefined;
	/** The sequences of its channel's notices. */
	private readonly notices: number[] = [];

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
		if (this.untold !== undefined) this.notice(this.untold);
	}

	/** Keeps its process for another round. */
	moveTo(info: WorkerInfo, instance: number): void {
		this.info = info;
		this.instance = instance;
		this.result = { ...this.result, rank: info.rank };
		this.prepared?.moved(info);
	}

	/** Throws if the disk refuses it. */
	pause({ change, reason }: PauseNotice): void {
		this.state = "PAUSED";
		this.tell({
			kind: "PAUSE",
			workerState: "PAUSED",
			changeEvent: change,
			reason,
		});
	}

	/** Throws if the disk refuses it. `change`: the reason of its PAUSE. */
	work({ cause }: RoundRecord, change: WorldChangeEvent): void {
		this.state = "HEALTHY";
		this.tell({
			kind: "WORK",
			workerState: "HEALTHY",
			changeEvent: change,
			reason: cause.reason,
		});
	}

	/** Throws if the disk refuses it. A worker that is not prepared yet is told when it is. */
	notice({ deadline, source, reason }: MachineNotice): void {
		const { prepared } = this;
		const notice = { deadline, source, reason };
		this.untold = prepared === undefined ? notice : undefined;
		if (prepared === undefined) return;
		const sequence = prepared.notify({
			...{ kind: "NOTICE", workerState: this.state, changeEvent: null },
			...{ ...notice, ...this.place },
		});
		this.notices.push(sequence);
	}

	ring(): void {
		this.prepared?.ring();
	}

	signal(signal: "SIGTERM" | "SIGKILL"): void {
		this.isToEnd = true;
		this.handle?.signal(signal);
	}

	/** Returns whether its leader lives, and so received the signal. */
	passOn(signal: NodeJS.Signals): boolean {
		return this.handle?.passOn(signal) ?? false;
	}

	hasChannel(directory: string): boolean {
		return this.prepared?.directory === directory;
	}

	/** The agent's input for a reply; undefined if there is none. */
	inputOf(reply: ReceivedReply): AgentInput | undefined {
		const { localRank } = this.info;
		switch (reply.kind) {
			case "HELLO":
				return { kind: "worker-attached", localRank };
			case "ACK":
				return this.acknowledged(reply.event);
			case "NOTICED":
				return { kind: "worker-noticed", localRank };
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

	/**
	 * To acknowledge a notice says that the worker is ready to end, and nothing about the events before it. The agent counts
	 * only those of rounds.
	 */
	private acknowledged(event: number): AgentInput {
		const { localRank } = this.info;
		if (this.notices.includes(event))
			return { kind: "worker-ready", localRank };
		const before = this.notices.filter((notice) => notice < event).length;
		return { kind: "worker-acknowledged", localRank, event: event - before };
	}

	/** Its leader's last replies come before its end. */
	hearLast(): void {
		this.prepared?.hear();
	}

	/** Call it when its leader has ended. */
	exited(
		exit: WorkerExit,
		groupRemains: boolean,
		oomKills: OomKills,
	): AgentInput {
		const pid = this.handle?.pid ?? null;
		const end = explainEnd(exit, this.prepared, pid, oomKills);
		this.result = {
			...this.result,
			exitCode: end.exitCode,
			signal: exit.signal,
			collateral: exit.signalledByAgent,
		};
		const { localRank } = this.info;
		return {
			kind: "worker-exited",
			localRank,
			pid,
			exit,
			...end,
			groupRemains,
		};
	}

	/** None of its processes is left. If its stderr file was removed or renamed, its last lines are read now. */
	gone(): void {
		const { stderr } = this.prepared?.logs ?? {};
		if (stderr === undefined || this.result.exitCode === 0) return;
		const { file, startBytes } = stderr;
		if (!file.isAway) return;
		this.lostLines = lastLines(file, { from: startBytes });
	}

	/** Undefined before its spawn. */
	get process(): WorkerProcess | undefined {
		const { prepared } = this;
		const { pid } = this.result;
		if (prepared === undefined || pid === null) return undefined;
		const { localRank, rank } = this.info;
		const { directory, logs } = prepared;
		return { localRank, rank, pid, directory, logs };
	}

	get words(): WorkerWords | undefined {
		const { logs } = this.prepared ?? {};
		if (logs === undefined) return undefined;
		const { directory, stderr } = logs;
		return { directory, logFile: stderr?.path, lostLines: this.lostLines };
	}

	private tell(
		message: Omit<OutgoingEvent, "instance" | "round" | "workerInfo">,
	): void {
		this.prepared?.tell({ ...message, ...this.place });
	}

	private get place() {
		const { info } = this;
		return { instance: this.instance, round: info.round, workerInfo: info };
	}
}
