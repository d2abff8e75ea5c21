import { messageOf } from "../../base/errors.js";
import { tellInTurns } from "../../base/tell-in-turns.js";
import type { ReceivedReply, WorldChangeEvent } from "../../channel/events.js";
import type {
	RoundRecord,
	SeatRecord,
} from "../../rendezvous/records/records.js";
import type { WorkerResult } from "../../status/report.js";
import { workerInfo } from "./assign-ranks.js";
import { type PauseNotice, WorkerMember } from "./worker-member.js";
import type { MachineNotice } from "./worker-notices.js";
import type { WorkerProcess, WorkerWords } from "./worker-process.js";
import { WorkerStarts, type WorkerStartsOptions } from "./worker-starts.js";

export interface WorkerGroupOptions extends WorkerStartsOptions {
	readonly runId: string;
	/** Also sent to the workers' leaders at a notice. */
	readonly noticeSignal?: NodeJS.Signals | undefined;
	/** Called just before a round's workers begin. */
	readonly onSpawning: () => void;
	/** Called once a round's workers work, with the workers by local rank and how many were kept. */
	readonly onStarted: (
		round: RoundRecord,
		workers: readonly Pick<WorkerResult, "pid" | "rank">[],
		kept: number,
	) => void;
}

/** The worker processes of one round on this node. It starts, signals and reports; it decides nothing. */
export class WorkerGroup {
	private members = new Map<number, WorkerMember>();
	private readonly starts: WorkerStarts;

	constructor(private readonly options: WorkerGroupOptions) {
		this.starts = new WorkerStarts(options);
	}

	/** How the workers of the newest round ended so far. */
	get results(): readonly WorkerResult[] {
		return [...this.members.values()].map((member) => member.result);
	}

	/** The processes of the newest round, by local rank. */
	get processes(): readonly WorkerProcess[] {
		return [...this.members.values()].flatMap(({ process }) => process ?? []);
	}

	/** What is left of the output of the worker with this pid; undefined if it is not of the newest round. */
	wordsOf(pid: number): WorkerWords | undefined {
		const isMeant = ({ result }: WorkerMember) => result.pid === pid;
		return [...this.members.values()].find(isMeant)?.words;
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
			this.memberFor(round, seat, rank, stays(rank)),
		);
		this.members = new Map(
			all.map((member) => [member.info.localRank, member]),
		);
		if (kept.size > 0) this.options.onSpawning();
		const wake = ([localRank]: readonly [number, unknown]) =>
			this.ring(localRank);
		tellInTurns(
			[...kept],
			([localRank, change]) =>
				this.tell(localRank, (member) => member.work(round, change)),
			wake,
		).forEach(wake);
		this.starts.begin(
			round,
			all.filter(({ info }) => !stays(info.localRank)),
			kept.size === 0 ? this.options.onSpawning : () => {},
		);
		this.options.onStarted(round, this.results, kept.size);
	}

	/**
	 * PAUSE: their round is being left. The last ones are woken after the node's record is written: they would take the
	 * processors from it.
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

	/** Tells that the machine goes, or stays. A worker that cannot be told gets SIGTERM in time all the same. */
	notice(
		localRanks: readonly number[],
		notice: MachineNotice & { readonly isFirst: boolean },
	): void {
		const { noticeSignal, log } = this.options;
		for (const localRank of localRanks) {
			const member = this.members.get(localRank);
			try {
				member?.notice(notice);
				member?.ring();
			} catch (error) {
				log.warn(
					`local rank ${localRank} cannot be told the notice: ${messageOf(error)}`,
				);
			}
			if (notice.isFirst && noticeSignal) member?.passOn(noticeSignal);
		}
	}

	/** Handles a worker's reply. */
	hear(directory: string, reply: ReceivedReply): void {
		const member = [...this.members.values()].find((one) =>
			one.hasChannel(directory),
		);
		const input = member?.inputOf(reply);
		if (input !== undefined) this.options.dispatch(input);
	}

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
		return [...this.members.values()]
			.filter((member) => member.passOn(signal))
			.map(({ info }) => info.rank);
	}

	killAll(): void {
		this.kill([...this.members.keys()]);
	}

	/** The worker process kept for this place, or a new one. */
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

	/** If a worker cannot be told, the agent decides. */
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

	private signal(localRanks: readonly number[], signal: NodeJS.Signals): void {
		for (const localRank of localRanks) {
			const member = this.members.get(localRank);
			if (member === undefined) continue;
			member.signal(signal);
			if (this.starts.cancel(member)) {
				this.options.dispatch({ kind: "worker-gone", localRank });
			}
		}
	}
}
