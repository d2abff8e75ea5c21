import type {
	ReceivedReply,
	WorkerEvent,
	WorkerInfo,
	WorkerState,
	WorldChangeEvent,
} from "../../channel/events.js";
import { lastLines } from "../../logs/last-lines.js";
import type {
	OomKills,
	WorkerExit,
	WorkerHandle,
} from "../../processes/index.js";
import type { RoundRecord } from "../../rendezvous/records/records.js";
import type { WorkerResult } from "../../status/report.js";
import type { AgentInput } from "../machine/inputs.js";
import { explainEnd } from "./explain-end.js";
import type { PreparedWorker } from "./prepared-worker.js";
import { type MachineNotice, WorkerNotices } from "./worker-notices.js";
import type { WorkerProcess, WorkerWords } from "./worker-process.js";

/** Why a worker is paused. */
export interface PauseNotice {
	readonly change: WorldChangeEvent;
	readonly reason: string;
}

/** One worker process: its place in the world, and its state. */
export class WorkerMember {
	result: WorkerResult;
	/** It was told to end. */
	isToEnd = false;
	private state: WorkerState = "HEALTHY";
	private lostLines: readonly string[] | undefined;
	private prepared: PreparedWorker | undefined;
	private handle: WorkerHandle | undefined;
	private startedAt: number | undefined;
	private readonly notices = new WorkerNotices();

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

	/** @param now on the agent's clock */
	started(prepared: PreparedWorker, handle: WorkerHandle, now: number): void {
		this.prepared = prepared;
		this.handle = handle;
		this.startedAt = now;
		const { pid = null } = handle;
		this.result = { ...this.result, pid };
		this.notices.begin(this.writeTo(prepared));
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
		this.tell("PAUSE", "PAUSED", change, reason);
	}

	/** Throws if the disk refuses it. `change`: the reason of its PAUSE. */
	work({ cause }: RoundRecord, change: WorldChangeEvent): void {
		this.tell("WORK", "HEALTHY", change, cause.reason);
	}

	/** Throws if the disk refuses it. A worker that is not prepared yet is told when it is. */
	notice(notice: MachineNotice): void {
		const { prepared } = this;
		this.notices.tell(notice, prepared && this.writeTo(prepared));
	}

	private writeTo({ notify }: PreparedWorker) {
		return (notice: MachineNotice) =>
			notify({
				...{ kind: "NOTICE", workerState: this.state, changeEvent: null },
				...{ ...notice, ...this.place },
			});
	}

	ring(): void {
		this.prepared?.ring();
	}

	signal(signal: NodeJS.Signals): void {
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
		return this.notices.inputOf(reply, this.info.localRank);
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
			...(this.handle?.start === "warm" ? { startedWarm: true } : {}),
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
		const { start = "cold" } = this.handle ?? {};
		return {
			localRank,
			rank,
			pid,
			directory,
			logs,
			startedAt: this.startedAt,
			start,
		};
	}

	get words(): WorkerWords | undefined {
		const { logs } = this.prepared ?? {};
		if (logs === undefined) return undefined;
		const { directory, stderr } = logs;
		return { directory, logFile: stderr?.path, lostLines: this.lostLines };
	}

	private tell(
		kind: WorkerEvent["kind"],
		workerState: WorkerState,
		changeEvent: WorldChangeEvent,
		reason: string,
	): void {
		this.state = workerState;
		const said = { kind, workerState, changeEvent, reason };
		this.prepared?.tell({ ...said, ...this.place });
	}

	private get place() {
		const { info } = this;
		return { instance: this.instance, round: info.round, workerInfo: info };
	}
}
