import type { Clock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import type { Logger } from "../base/logger.js";
import type { WorkerSpec } from "../processes/index.js";
import type {
	Ahead,
	ColdReason,
	NextFacts,
	PreparedWorker,
	StartFacts,
} from "./ahead.js";
import { availableMemory, parkingShortage } from "./machine.js";
import { parkingProblem } from "./node-command.js";
import { ParkedProcess } from "./parked-process.js";
import { QUICK_MS } from "./warm-or-cold.js";

export interface ParkedNodeOptions {
	readonly clock: Clock;
	readonly log: Pick<Logger, "info" | "debug">;
	readonly setpriv: string | undefined;
	/** Workers of this node. */
	readonly workers: number;
	/** The file that Node loads before the script. */
	readonly hook: string;
}

/**
 * When a worker's successor is started, in milliseconds after the worker's start: once the round runs, one rank after
 * another, because each takes a processor for a moment.
 */
const PARK_AFTER_MS = 1_000;
const PARK_PER_RANK_MS = 100;
const NO_SETPRIV: ColdReason = {
	kind: "machine",
	reason: "warm starts need Linux, and setpriv of util-linux 2.33 or later",
};

/** For Node: starts a process for each local rank, which waits before the script. */
export class ParkedNode implements Ahead {
	readonly done = "its process was started ahead";
	readonly earlyMs = QUICK_MS;
	onChange: () => void = () => {};
	private readonly parked = new Map<number, ParkedProcess>();
	private readonly pending = new Map<number, () => void>();
	private shortage: string | undefined;
	private started: WorkerSpec | undefined;

	constructor(private readonly options: ParkedNodeOptions) {}

	factsOf(spec: WorkerSpec): StartFacts {
		const waiting = this.parked.get(spec.localRank);
		return {
			problem: this.problemOf(spec) ?? waiting?.problem,
			difference: waiting?.differenceFrom(spec),
			waiting: waiting === undefined ? 0 : 1,
		};
	}

	/** A round needs a process for each worker. */
	get next(): NextFacts {
		const parked = [...this.parked.values()];
		const problems = parked.flatMap(({ problem }) => problem ?? []);
		const ready = parked.length - problems.length;
		const isEnough = ready >= this.options.workers;
		const known = this.started && this.problemOf(this.started);
		const problem = known ?? (isEnough ? undefined : problems[0]);
		return {
			problem,
			waiting: isEnough ? ready : 0,
			isImporting: false,
			shown: problem === undefined && isEnough ? { waiting: ready } : {},
		};
	}

	take(spec: WorkerSpec): PreparedWorker | undefined {
		const waiting = this.parked.get(spec.localRank);
		this.parked.delete(spec.localRank);
		waiting?.start(spec);
		return waiting;
	}

	startsCold({ localRank }: WorkerSpec): void {
		this.parked.get(localRank)?.close();
		this.parked.delete(localRank);
	}

	prepareNext(spec: WorkerSpec): void {
		const { clock } = this.options;
		const { localRank } = spec;
		this.started = spec;
		this.pending.get(localRank)?.();
		if (this.problemOf(spec) !== undefined && this.shortage === undefined)
			return;
		const at = clock.now() + PARK_AFTER_MS + PARK_PER_RANK_MS * localRank;
		const cancel = clock.wakeAt(at, () => this.park(spec));
		this.pending.set(localRank, cancel);
	}

	isOwn(pid: number): boolean {
		return [...this.parked.values()].some((one) => one.pid === pid);
	}

	close(): void {
		for (const cancel of this.pending.values()) cancel();
		for (const waiting of this.parked.values()) waiting.close();
		this.parked.clear();
	}

	private problemOf({ args, env }: WorkerSpec): ColdReason | undefined {
		const { setpriv, hook } = this.options;
		if (setpriv === undefined) return NO_SETPRIV;
		const reason = parkingProblem(args, hook, env.NODE_OPTIONS);
		if (reason !== undefined) return { kind: "command", reason };
		const { shortage } = this;
		return shortage === undefined
			? undefined
			: { kind: "memory", reason: shortage };
	}

	private park(spec: WorkerSpec): void {
		const { setpriv, workers, log, hook } = this.options;
		const missing = workers - this.parked.size;
		this.shortage = parkingShortage(missing, availableMemory());
		const streams = this.shortage === undefined ? spec.openNext?.() : undefined;
		if (streams === undefined || setpriv === undefined) return;
		try {
			const waiting = new ParkedProcess(spec, streams, hook, setpriv);
			this.parked.set(spec.localRank, waiting);
		} catch (error) {
			log.debug(`no process was started ahead: ${messageOf(error)}`);
		} finally {
			this.onChange();
			streams.close();
		}
	}
}
