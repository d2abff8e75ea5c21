import type { Clock } from "../../base/clock.js";
import { isShortage, messageOf, systemErrorCode } from "../../base/errors.js";
import { inBatches } from "../../base/in-batches.js";
import type { Logger } from "../../base/logger.js";
import type { WorkerInfo } from "../../channel/events.js";
import type { SpawnProblem, WorkerSpawner } from "../../processes/index.js";
import type { RoundRecord } from "../../rendezvous/records/records.js";
import type { AgentInput } from "../machine/inputs.js";
import type { PreparedWorker } from "./prepared-worker.js";
import { PATIENCE_MS, StartAgain } from "./start-again.js";
import type { WorkerMember } from "./worker-member.js";

export interface WorkerStartsOptions {
	readonly clock: Clock;
	readonly spawner: WorkerSpawner;
	/** Whether this node has its lease at this moment. If it has not, the agent is told first. */
	readonly holdsLease: () => boolean;
	/** Makes a worker's channel, logs and environment. Throws if the disk refuses. */
	readonly prepare: (info: WorkerInfo, round: RoundRecord) => PreparedWorker;
	/** The control group's count of out-of-memory kills. */
	readonly readOomKills: () => number | undefined;
	/** Called each time workers have got channels, which must be read. */
	readonly onChannels: () => void;
	/** Logs what this node lacks to start workers, and later starts. */
	readonly log: Pick<Logger, "info" | "warn">;
	readonly dispatch: (input: AgentInput) => void;
}

/**
 * How many workers are prepared, and then spawned, at a time. After a fork the next writes to memory are slow, so little
 * else should happen between two forks; but each worker that waits for its spawn holds two descriptors.
 */
const BATCH = 32;

/** Starts the workers of one round. If this node lacks something for that, it retries. */
export class WorkerStarts {
	private readonly again: StartAgain<WorkerMember>;
	private startAll: (members: readonly WorkerMember[]) => void = () => {};

	constructor(private readonly options: WorkerStartsOptions) {
		const { clock, holdsLease, log } = options;
		const start = (members: readonly WorkerMember[]) => {
			this.startAll(members);
			this.tellLate(members);
		};
		const warn = (message: string) => log.warn(message);
		this.again = new StartAgain({ clock, holdsLease, warn, start });
	}

	/** @param onFirst called just before the first of them is spawned */
	begin(
		round: RoundRecord,
		workers: readonly WorkerMember[],
		onFirst: () => void,
	): void {
		const { prepare, readOomKills, onChannels } = this.options;
		const oomKills = readOomKills();
		this.startAll = (members) => {
			const failed = inBatches(
				members,
				BATCH,
				({ info }) => prepare(info, round),
				(member, prepared) => {
					if (member === workers[0]) onFirst();
					this.spawn(member, prepared, oomKills);
				},
			);
			if (failed) this.unprepared(failed.left, failed.error);
			onChannels();
		};
		this.again.reset();
		this.startAll(workers);
	}

	/** The worker is no longer wanted. Returns whether its start was pending. */
	cancel(member: WorkerMember): boolean {
		return this.again.cancel(member);
	}

	private tellLate(members: readonly WorkerMember[]): void {
		const pids = members.flatMap(({ result }) => result.pid ?? []);
		const round = members[0]?.info.round;
		if (pids.length === 0) return;
		const words = `round ${round}: started ${pids.length} more`;
		this.options.log.info(words, { round, pids });
	}

	/** The first of these could not be prepared. */
	private unprepared(members: readonly WorkerMember[], error: unknown): void {
		const code = shortageOf(error) ?? "UNPREPARED";
		const problem = { code, message: messageOf(error) };
		if (this.startsAgain(members, problem)) return;
		for (const [index, { info }] of members.entries()) {
			const { localRank } = info;
			if (index === 0) this.giveUp(localRank, problem);
			this.options.dispatch({ kind: "worker-gone", localRank });
		}
	}

	/** False for a problem that does not pass, or if this node has lacked something for too long. */
	private startsAgain(
		members: readonly WorkerMember[],
		{ code, message }: SpawnProblem,
	): boolean {
		const [first] = members;
		if (first === undefined || !isShortage(code)) return false;
		const problem = `rank ${first.info.rank} cannot be started: ${message}`;
		return this.again.add(members, problem);
	}

	private giveUp(localRank: number, { code, message }: SpawnProblem): void {
		const tried = ` (tried again for ${PATIENCE_MS / 1_000} s)`;
		const words = isShortage(code) ? message + tried : message;
		const problem = { code, message: words };
		this.options.dispatch({ kind: "worker-not-started", localRank, problem });
	}

	private spawn(
		member: WorkerMember,
		prepared: PreparedWorker,
		oomKills: number | undefined,
	): void {
		const { clock, dispatch, spawner, readOomKills } = this.options;
		const { localRank } = member.info;
		let startsAgain = false;
		const handle = spawner.spawn(prepared.spec, {
			spawnFailed: (problem) => {
				startsAgain = !member.isToEnd && this.startsAgain([member], problem);
				if (!startsAgain) this.giveUp(localRank, problem);
			},
			exited: (exit, groupRemains) => {
				member.hearLast();
				const kills = {
					before: oomKills,
					// Read only to explain a kill.
					get now() {
						return readOomKills();
					},
				};
				dispatch(member.exited(exit, groupRemains, kills));
			},
			gone: () => {
				member.gone();
				prepared.discard();
				if (!startsAgain) dispatch({ kind: "worker-gone", localRank });
			},
		});
		member.started(prepared, handle, clock.now());
		prepared.release();
		const { pid } = handle;
		if (pid === undefined) return;
		dispatch({ kind: "worker-started", localRank, pid });
	}
}

/** The code of a shortage in an error or its causes; undefined if there is none. */
function shortageOf(error: unknown): string | undefined {
	for (let cause = error; cause instanceof Error; cause = cause.cause) {
		const code = systemErrorCode(cause);
		if (code !== undefined && isShortage(code)) return code;
	}
	return undefined;
}
