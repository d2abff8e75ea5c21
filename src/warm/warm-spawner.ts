import type {
	NextStart,
	StartSource,
	Starts,
	StepSource,
} from "../model/index.js";
import type {
	RunningWorkers,
	WorkerHandle,
	WorkerListener,
	WorkerSpawner,
	WorkerSpec,
} from "../processes/index.js";
import type {
	Ahead,
	AheadOptions,
	ColdReason,
	PreparedWorker,
} from "./ahead.js";
import { ForkHelper } from "./fork-helper.js";
import { isForNode, ParkedNode } from "./parked-node.js";
import {
	isUnasked,
	nextStart,
	QuickRounds,
	type WarmDecision,
	warmOrCold,
} from "./warm-or-cold.js";

export interface WarmSpawnerOptions extends AheadOptions {
	readonly running: RunningWorkers;
	/** Starts workers in the usual way. */
	readonly cold: WorkerSpawner;
	readonly command: Pick<WorkerSpec, "file" | "args">;
}

const NOT_PASSED: ColdReason = {
	kind: "changed",
	reason: "its output cannot be passed to the helper",
};

/** Starts workers from processes that were prepared, where that makes no difference to them. */
export class WarmSpawner implements WorkerSpawner, StartSource {
	private readonly quick = new QuickRounds();
	private readonly rounds = new Map<string, Starts>();
	/** Workers that were started cold, and have made no step. */
	private readonly stepless = new Set<number>();
	private logged: string | undefined;
	onChange: () => void = () => {};

	private readonly ahead: Ahead;
	/** Undefined if nothing is learned from workers. */
	readonly imports: ForkHelper | undefined;

	constructor(private readonly options: WarmSpawnerOptions) {
		const { command, hook } = options;
		this.imports = isForNode(command, hook)
			? undefined
			: new ForkHelper(options);
		this.ahead = this.imports ?? new ParkedNode(options);
		this.ahead.onChange = () => this.onChange();
	}

	/** Whether the launcher itself needs this process. */
	isOwn(pid: number): boolean {
		return this.ahead.isOwn(pid);
	}

	close(): void {
		this.ahead.close();
	}

	spawn(spec: WorkerSpec, given: WorkerListener): WorkerHandle {
		const { ahead } = this;
		const listener: WorkerListener = {
			...given,
			exited: (...end) => {
				ahead.expectStart?.();
				given.exited(...end);
			},
		};
		const decision = warmOrCold(ahead.factsOf(spec), this.quick.count);
		this.logStart(spec, decision);
		const startedAt = this.options.clock.now();
		const isWarm = decision.start === "warm";
		const worker = isWarm ? ahead.take(spec) : undefined;
		ahead.prepareNext(spec);
		if (worker !== undefined) {
			this.note(spec, undefined);
			return this.follow(worker, startedAt, spec, listener);
		}
		this.note(spec, isWarm ? NOT_PASSED : decision);
		return this.spawnCold(spec, listener);
	}

	stepped(pid: number, source: StepSource): void {
		this.stepless.delete(pid);
		this.ahead.learning?.stepped(pid, source);
	}

	startsIn(round: number): Starts | undefined {
		return this.rounds.get(String(round));
	}

	get next(): NextStart {
		return nextStart(this.ahead.next, this.quick.count);
	}

	private logStart(spec: WorkerSpec, decision: WarmDecision): void {
		const { log, isFrugal } = this.options;
		const { start } = decision;
		const isWarm = start === "warm";
		const reason = isWarm ? this.ahead.done : decision.reason;
		const words = `round ${roundOf(spec)}: workers start ${start}: ${reason}`;
		if (this.logged === words) return;
		const isUsual = this.logged === undefined && !isWarm;
		if (isUsual || (!isWarm && isUnasked(isFrugal, decision.kind)))
			log.debug(words);
		else log.info(words);
		this.logged = words;
	}

	/** @param cold why this one starts cold; undefined: it starts warm */
	private note(spec: WorkerSpec, cold: ColdReason | undefined): void {
		const round = roundOf(spec);
		const before = this.rounds.get(round) ?? { warm: 0, cold: 0 };
		const after =
			cold === undefined
				? { ...before, warm: before.warm + 1 }
				: {
						...before,
						cold: before.cold + 1,
						reason: cold.reason,
						kind: cold.kind,
					};
		this.rounds.set(round, after);
		this.onChange();
	}

	private follow(
		worker: PreparedWorker,
		startedAt: number,
		spec: WorkerSpec,
		listener: WorkerListener,
	): WorkerHandle {
		const { pid, parentId } = worker;
		return this.options.running.follow(
			{ child: worker, pid, parentId, startedAt },
			{
				...listener,
				exited: (exit, groupRemains) => {
					const { failure } = worker;
					// It failed before the script began, which is no failure of the worker: it is started again.
					if (failure !== undefined && !exit.signalledByAgent) {
						listener.spawnFailed({ code: "EAGAIN", message: failure });
						return;
					}
					this.quick.noteEnd(exit, roundOf(spec));
					listener.exited(exit, groupRemains);
				},
			},
			"warm",
		);
	}

	private spawnCold(spec: WorkerSpec, listener: WorkerListener): WorkerHandle {
		const { ahead } = this;
		ahead.startsCold(spec);
		ahead.learning?.prepare(spec);
		let pid: number | undefined;
		const handle = this.options.cold.spawn(spec, {
			...listener,
			exited: (exit, groupRemains) => {
				const isStepless = pid !== undefined && this.stepless.delete(pid);
				if (isStepless) this.quick.noteColdEnd(exit, ahead.earlyMs);
				listener.exited(exit, groupRemains);
			},
			gone: () => {
				if (pid !== undefined) ahead.learning?.gone(pid);
				listener.gone();
			},
		});
		pid = handle.pid;
		if (pid !== undefined) {
			this.stepless.add(pid);
			ahead.learning?.begin({ pid, spec });
		}
		return handle;
	}
}

function roundOf({ env }: WorkerSpec): string {
	return env.ELASTIC_RUN_ROUND ?? "";
}
