import type { Clock } from "../../base/clock.js";
import type {
	NoticeState,
	ReceivedReply,
	WorkerEvent,
	WorkerInfo,
	WorkerState,
	WorldChangeEvent,
} from "../../channel/index.js";
import type {
	OomKills,
	SpawnProblem,
	WorkerExit,
	WorkerHandle,
	WorkerSpawner,
} from "../../processes/index.js";
import type { RoundRecord } from "../../rendezvous/index.js";
import type { WorkerResult } from "../../status/index.js";
import type { AgentInput } from "../machine/inputs.js";
import { explainEnd } from "./explain-end.js";
import type { WorkerProcess, WorkerWords } from "./worker-process.js";
import { WorkerReplies } from "./worker-replies.js";
import type { WorkerFiles, Workplace } from "./workplace.js";

/** What all workers of a node share. */
export interface WorkerSurroundings {
	readonly clock: Clock;
	readonly spawner: WorkerSpawner;
	readonly workplace: Workplace;
	/** The control group's count of out-of-memory kills. */
	readonly readOomKills: () => number | undefined;
	readonly dispatch: (input: AgentInput) => void;
}

export interface PauseNotice {
	readonly change: WorldChangeEvent;
	readonly reason: string;
}

/** Why a worker's machine will go; with the source null, it stays. */
export type MachineNotice = Omit<NoticeState, "sequence">;

/** One worker: its place in the world, its channel and output, its process, and how that ended. */
export class Worker {
	result: WorkerResult;
	isToEnd = false;
	private state: WorkerState = "HEALTHY";
	/** From its spawn on. */
	private files: WorkerFiles | undefined;
	private handle: WorkerHandle | undefined;
	private startedAt: number | undefined;
	private notice: MachineNotice | undefined;
	private lostLines: readonly string[] | undefined;
	private readonly replies = new WorkerReplies();

	constructor(
		public info: WorkerInfo,
		private instance: number,
		private readonly around: WorkerSurroundings,
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

	/**
	 * Spawns its process. Dispatches its start, its exit, and that none of its processes is left.
	 * @param oomKills the count before the round's workers were started
	 * @param onProblem called if the spawn fails; returns whether it is tried again
	 */
	spawn(
		files: WorkerFiles,
		oomKills: number | undefined,
		onProblem: (problem: SpawnProblem) => boolean,
	): void {
		const { clock, dispatch, spawner, readOomKills } = this.around;
		const { localRank } = this.info;
		let startsAgain = false;
		let groupRemained = false;
		this.handle = spawner.spawn(files.spec, {
			spawnFailed: (problem) => {
				startsAgain = onProblem(problem);
			},
			exited: (exit, groupRemains) => {
				// Its leader's last replies come before its end.
				this.readReplies();
				groupRemained = groupRemains;
				const kills = {
					before: oomKills,
					// Read only to explain a kill.
					get now() {
						return readOomKills();
					},
				};
				const input = this.exited(exit, groupRemains, kills);
				// What the others have replied by now decides whether they can go on.
				if (isFailure(input)) this.around.workplace.readAllReplies();
				dispatch(input);
			},
			gone: () => {
				if (groupRemained) this.readReplies();
				this.gone(files);
				if (!startsAgain) dispatch({ kind: "worker-gone", localRank });
			},
		});
		this.files = files;
		this.startedAt = clock.now();
		const { pid } = this.handle;
		this.result = { ...this.result, pid: pid ?? null };
		this.replies.begin();
		if (this.notice?.source) this.writeNotice(this.notice);
		files.output?.closeDescriptors();
		if (pid !== undefined) dispatch({ kind: "worker-started", localRank, pid });
	}

	/** Keeps its process for another round. */
	moveTo(info: WorkerInfo, instance: number): void {
		this.info = info;
		this.instance = instance;
		this.result = { ...this.result, rank: info.rank };
		this.files?.output?.moveTo(info);
	}

	/** Throws if the disk refuses it. */
	pause({ change, reason }: PauseNotice): void {
		this.send("PAUSE", "PAUSED", change, reason);
	}

	/** Throws if the disk refuses it. `change`: the reason of its PAUSE. */
	work({ cause }: RoundRecord, change: WorldChangeEvent): void {
		this.send("WORK", "HEALTHY", change, cause.reason);
	}

	/** Throws if the disk refuses it. A worker without a process gets the notice at its spawn. */
	notify({ deadline, source, reason }: MachineNotice): void {
		this.notice = { deadline, source, reason };
		this.writeNotice(this.notice);
	}

	/** Wakes it to read its events. */
	ring(): void {
		this.files?.channel.ring();
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
		return this.files?.channel.directory === directory;
	}

	/** Dispatches what a reply means to the agent. */
	receive(reply: ReceivedReply): void {
		const input = this.replies.inputOf(reply, this.info.localRank);
		if (input !== undefined) this.around.dispatch(input);
	}

	/** Undefined before its spawn. */
	get process(): WorkerProcess | undefined {
		const { files } = this;
		const { pid } = this.result;
		if (files === undefined || pid === null) return undefined;
		const { localRank, rank } = this.info;
		const { directory } = files.channel;
		const { start = "cold" } = this.handle ?? {};
		const logs = files.output?.logs;
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
		const logs = this.files?.output?.logs;
		if (logs === undefined) return undefined;
		const { directory, stderr } = logs;
		return { directory, logFile: stderr?.path, lostLines: this.lostLines };
	}

	private readReplies(): void {
		if (this.files) this.around.workplace.readReplies(this.files.channel);
	}

	private exited(
		exit: WorkerExit,
		groupRemains: boolean,
		oomKills: OomKills,
	): AgentInput {
		const { pid } = this.result;
		const end = explainEnd(exit, this.files, pid, oomKills);
		this.result = {
			...this.result,
			exitCode: end.exitCode,
			signal: exit.signal,
			collateral: exit.signalledByAgent,
		};
		return {
			kind: "worker-exited",
			localRank: this.info.localRank,
			pid,
			exit,
			...end,
			...(this.handle?.start === "warm" ? { startedWarm: true } : {}),
			groupRemains,
		};
	}

	/** If its stderr file was removed or renamed, its last lines are read now. */
	private gone({ channel, output }: WorkerFiles): void {
		if (this.result.exitCode !== 0) this.lostLines = output?.readLostLines();
		output?.finish();
		this.around.workplace.discard(channel);
	}

	private send(
		kind: WorkerEvent["kind"],
		workerState: WorkerState,
		changeEvent: WorldChangeEvent,
		reason: string,
	): void {
		this.state = workerState;
		const event = { kind, workerState, changeEvent, reason, ...this.place };
		this.files?.channel.send(event, this.around.clock.wallTime());
	}

	private writeNotice(notice: MachineNotice): void {
		if (this.files === undefined) return;
		const event = {
			kind: "NOTICE" as const,
			workerState: this.state,
			changeEvent: null,
			...notice,
			...this.place,
		};
		const { channel } = this.files;
		const now = this.around.clock.wallTime();
		const { sequence } = channel.notify(event, now);
		this.replies.noticed(sequence, notice.source === null);
	}

	private get place() {
		const { info } = this;
		return { instance: this.instance, round: info.round, workerInfo: info };
	}
}

/** Whether a worker has failed that the agent did not end. */
export function isFailure(
	input: AgentInput,
): input is AgentInput & { kind: "worker-exited" } {
	if (input.kind !== "worker-exited") return false;
	return input.exitCode !== 0 && !input.exit.signalledByAgent;
}
