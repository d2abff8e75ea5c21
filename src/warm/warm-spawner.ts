import type { Clock } from "../base/clock.js";
import type { Logger } from "../base/logger.js";
import type { NextStart, StartSource, Starts } from "../model/start.js";
import type { StepSource } from "../model/step.js";
import type {
	RunningWorkers,
	WorkerHandle,
	WorkerListener,
	WorkerSpawner,
	WorkerSpec,
} from "../processes/index.js";
import type { Ahead, ColdReason, PreparedWorker } from "./ahead.js";
import {
	ForkHelper,
	type ForkHelperOptions,
	type SharedImports,
} from "./fork-helper.js";
import { isForNode, ParkedNode } from "./parked-node.js";
import {
	nextStart,
	QuickRounds,
	type WarmDecision,
	warmOrCold,
} from "./warm-or-cold.js";

export interface WarmStartsOptions extends ForkHelperOptions {
	readonly running: RunningWorkers;
	/** Starts workers in the usual way. */
	readonly cold: WorkerSpawner;
	readonly command: Pick<WorkerSpec, "file" | "args">;
	/** The file that Node loads before the script. */
	readonly hook: string;
}

/** Starts workers warm, in the way of their program. */
export interface WarmStarts {
	readonly spawner: WarmSpawner;
	/** Undefined if nothing is learned from workers. */
	readonly imports: SharedImports | undefined;
	/** Whether the launcher itself needs this process. */
	readonly isOwn: (pid: number) => boolean;
	readonly close: () => void;
}

export function openWarmStarts(options: WarmStartsOptions): WarmStarts {
	const { command, hook } = options;
	const helper = isForNode(command, hook) ? undefined : new ForkHelper(options);
	const ahead = helper ?? new ParkedNode(options);
	return {
		spawner: new WarmSpawner({ ...options, ahead }),
		imports: helper,
		isOwn: (pid) => ahead.isOwn(pid),
		close: () => ahead.close(),
	};
}

export interface WarmSpawnerOptions {
	readonly clock: Clock;
	readonly log: Pick<Logger, "info" | "debug">;
	readonly running: RunningWorkers;
	/** Starts workers in the usual way. */
	readonly cold: WorkerSpawner;
	readonly ahead: Ahead;
}

const NOT_PASSED: ColdReason = {
	kind: "changed",
	reason: "its output cannot be passed to the helper",
};

/** Starts workers from processes that were prepared, where that makes no difference to them. */
export class WarmSpawner implements WorkerSpawner, StartSource {
	private readonly quick = new QuickRounds();
	/** How workers were started, by round. */
	private readonly rounds = new Map<string, Starts>();
	/** Workers that were started cold, and have made no step. */
	private readonly stepless = new Set<number>();
	private said: string | undefined;
	onChange: () => void = () => {};

	constructor(private readonly options: WarmSpawnerOptions) {
		options.ahead.onChange = () => this.onChange();
	}

	spawn(spec: WorkerSpec, given: WorkerListener): WorkerHandle {
		const { ahead, clock } = this.options;
		const listener: WorkerListener = {
			...given,
			exited: (...end) => {
				ahead.expectStart?.();
				given.exited(...end);
			},
		};
		const decision = warmOrCold(ahead.factsOf(spec), this.quick.count);
		this.say(spec, decision);
		const startedAt = clock.now();
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
		this.options.ahead.learning?.stepped(pid, source);
	}

	startsIn(round: number): Starts | undefined {
		return this.rounds.get(String(round));
	}

	get next(): NextStart {
		return nextStart(this.options.ahead.next, this.quick.count);
	}

	private say(spec: WorkerSpec, decision: WarmDecision): void {
		const { log, ahead } = this.options;
		const { start } = decision;
		const reason = start === "warm" ? ahead.done : decision.reason;
		const words = `round ${roundOf(spec)}: workers start ${start}: ${reason}`;
		if (this.said === words) return;
		// The first start is usually cold.
		if (this.said === undefined && start === "cold") log.debug(words);
		else log.info(words);
		this.said = words;
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
		const { ahead, cold } = this.options;
		ahead.startsCold(spec);
		ahead.learning?.prepare(spec);
		let pid: number | undefined;
		const handle = cold.spawn(spec, {
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
