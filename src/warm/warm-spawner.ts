import type { NextStart, SharedModules } from "../model/start.js";
import type { StepSource } from "../model/step.js";
import type {
	RunningWorkers,
	WorkerHandle,
	WorkerListener,
	WorkerSpawner,
	WorkerSpec,
} from "../processes/index.js";
import { QuickRounds } from "./quick-rounds.js";
import { StartNotes, type StartSource } from "./start-notes.js";
import { differenceOf } from "./warm-environment.js";
import { SETTLED_MS } from "./warm-learning.js";
import {
	type ColdReason,
	nextWarmStart,
	type WarmDecision,
	warmOrCold,
} from "./warm-or-cold.js";
import type { WarmProcess } from "./warm-process.js";
import { WarmSource, type WarmSourceOptions } from "./warm-source.js";
import { warmStream } from "./warm-stream.js";

export interface WarmSpawnerOptions extends WarmSourceOptions {
	readonly running: RunningWorkers;
	/** Starts workers in the usual way. */
	readonly cold: WorkerSpawner;
}

const NOT_PASSED: ColdReason = {
	kind: "changed",
	reason: "its output cannot be passed to the helper",
};

/** Starts workers from a helper that has their imports, where that makes no difference to them. */
export class WarmSpawner implements WorkerSpawner, StartSource {
	private readonly source: WarmSource;
	private readonly quick = new QuickRounds();
	private readonly notes = new StartNotes();
	/** Workers that were started cold, and have made no step. */
	private readonly stepless = new Set<number>();
	private said: string | undefined;
	/** The newest start; from the first one on this node's own workers teach. */
	private started: WorkerSpec | undefined;

	constructor(private readonly options: WarmSpawnerOptions) {
		this.source = new WarmSource(options);
	}

	spawn(spec: WorkerSpec, given: WorkerListener): WorkerHandle {
		const listener: WorkerListener = {
			...given,
			exited: (...end) => {
				this.source.helper?.expectStart();
				given.exited(...end);
			},
		};
		const decision = this.decide(spec);
		this.tell(spec, decision);
		this.started = spec;
		const warm =
			decision.start === "warm" ? this.spawnWarm(spec, listener) : undefined;
		const isCold = decision.start === "cold";
		const cold = isCold ? decision : warm ? undefined : NOT_PASSED;
		this.notes.note(spec, cold);
		this.source.parkLater();
		return warm ?? this.spawnCold(spec, listener);
	}

	/** A worker has made a step. */
	stepped(pid: number, source: StepSource): void {
		this.stepless.delete(pid);
		this.source.learning.stepped(pid, source);
	}

	/** Takes a list that another node's worker has taught: see `WarmSource.take`. */
	take(shared: SharedModules, spec: WorkerSpec): void {
		if (this.started === undefined) this.source.take(shared, spec);
	}

	set onProven(listener: (shared: SharedModules) => void) {
		this.source.onProven = listener;
	}

	/** Whether a list of another node would be of use. */
	get isIgnorant(): boolean {
		return this.started === undefined && this.source.helper === undefined;
	}

	startsIn(round: number) {
		return this.notes.in(round);
	}

	get next(): NextStart {
		const { started, source, quick } = this;
		const helper = source.factsFor(started?.args ?? []);
		const facts = { helper, quickFailures: quick.count };
		return nextWarmStart(facts, source.imported);
	}

	set onChange(listener: () => void) {
		this.notes.onChange = listener;
		this.source.onChange = listener;
	}

	/** Whether the launcher itself needs this process. */
	isOwn(pid: number): boolean {
		return this.source.isOwn(pid);
	}

	close(): void {
		this.source.close();
	}

	private decide(spec: WorkerSpec): WarmDecision {
		const { known } = this.source;
		return warmOrCold({
			helper: this.source.factsFor(spec.args),
			difference: known && differenceOf(known, spec),
			quickFailures: this.quick.count,
		});
	}

	private tell(spec: WorkerSpec, { start, reason }: WarmDecision): void {
		const round = spec.env.ELASTIC_RUN_ROUND ?? "";
		const words = `round ${round}: workers start ${start}: ${reason}`;
		if (this.said === words) return;
		const { log } = this.options;
		// The first start is usually cold.
		if (this.said === undefined && start === "cold") log.debug(words);
		else log.info(words);
		this.said = words;
	}

	private spawnWarm(
		spec: WorkerSpec,
		listener: WorkerListener,
	): WorkerHandle | undefined {
		const { helper } = this.source;
		const stdout = warmStream(spec.stdout);
		const stderr = warmStream(spec.stderr);
		if (!helper || !stdout || !stderr) return undefined;
		const startedAt = this.options.clock.now();
		const worker = helper.start(spec, { stdout, stderr });
		const { pid, parentId } = worker;
		return this.options.running.follow(
			{ child: worker, pid, parentId, startedAt },
			{
				...listener,
				exited: (exit, groupRemains) => {
					if (!exit.signalledByAgent && tellRefusal(worker, listener)) return;
					this.quick.noteEnd(exit, spec.env.ELASTIC_RUN_ROUND);
					listener.exited(exit, groupRemains);
				},
			},
			"warm",
		);
	}

	private spawnCold(spec: WorkerSpec, listener: WorkerListener): WorkerHandle {
		const { learning } = this.source;
		this.source.yieldTo();
		learning.prepare(spec);
		let pid: number | undefined;
		const handle = this.options.cold.spawn(spec, {
			...listener,
			exited: (exit, groupRemains) => {
				// Its imports take a while.
				const isStepless = pid !== undefined && this.stepless.delete(pid);
				if (isStepless) this.quick.noteColdEnd(exit, SETTLED_MS);
				listener.exited(exit, groupRemains);
			},
			gone: () => {
				if (pid !== undefined) learning.gone(pid);
				listener.gone();
			},
		});
		pid = handle.pid;
		if (pid !== undefined) {
			this.stepless.add(pid);
			learning.begin({ pid, spec });
		}
		return handle;
	}
}

/** A start that failed before the script began is no failure of the worker: it is tried again. Returns whether it is one. */
function tellRefusal(
	{ refusal, isStarted }: WarmProcess,
	listener: WorkerListener,
): boolean {
	if (refusal === undefined || isStarted) return false;
	const message = `its warm start failed: ${refusal}`;
	listener.spawnFailed({ code: "EAGAIN", message });
	return true;
}
