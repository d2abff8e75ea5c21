import type { SharedModules } from "../rendezvous/records/learned-record.js";
import type { Starts } from "../rendezvous/records/ledger-record.js";
import type { StepSource } from "../rendezvous/records/progress-record.js";
import { QuickRounds } from "./quick-rounds.js";
import type { RunningWorkers } from "./running-workers.js";
import { differenceOf, flagAgainstHook } from "./warm-environment.js";
import { type WarmDecision, warmOrCold } from "./warm-or-cold.js";
import type { WarmProcess } from "./warm-process.js";
import { WarmSource, type WarmSourceOptions } from "./warm-source.js";
import { warmStream } from "./warm-stream.js";
import type {
	WorkerHandle,
	WorkerListener,
	WorkerSpawner,
	WorkerSpec,
} from "./worker.js";

export interface WarmSpawnerOptions extends WarmSourceOptions {
	readonly running: RunningWorkers;
	/** Starts workers in the usual way. */
	readonly cold: WorkerSpawner;
}

/** The ledger asks for the newest rounds only. */
const KEPT_STARTS = 4;

/** Starts workers from a helper that has their imports, where that makes no difference to them. */
export class WarmSpawner implements WorkerSpawner {
	private readonly source: WarmSource;
	private readonly quick = new QuickRounds();
	/** By round, the newest last. */
	private readonly starts = new Map<string, Starts>();
	private said: string | undefined;
	/** A worker was started: its own node teaches from now on. */
	private hasStarted = false;

	constructor(private readonly options: WarmSpawnerOptions) {
		this.source = new WarmSource(options);
	}

	spawn(spec: WorkerSpec, listener: WorkerListener): WorkerHandle {
		const decision = this.decide(spec);
		this.tell(spec, decision);
		this.hasStarted = true;
		const warm =
			decision.start === "warm" ? this.spawnWarm(spec, listener) : undefined;
		this.note(spec, warm === undefined ? decision.reason : undefined);
		this.source.parkLater();
		return warm ?? this.spawnCold(spec, listener);
	}

	/** A worker has made a step. */
	stepped(pid: number, source: StepSource): void {
		this.source.learning.stepped(pid, source);
	}

	/** Takes a list that another node's worker has taught: see `WarmSource.take`. */
	take(shared: SharedModules, spec: WorkerSpec): void {
		if (!this.hasStarted) this.source.take(shared, spec);
	}

	set onProven(listener: (shared: SharedModules) => void) {
		this.source.onProven = listener;
	}

	/** Whether a list of another node would be of use. */
	get isIgnorant(): boolean {
		return !this.hasStarted && this.source.helper === undefined;
	}

	/** How this node's workers were started in one of the last rounds; undefined if none was. */
	startsIn(round: number): Starts | undefined {
		return this.starts.get(String(round));
	}

	/** @param reason why this one starts cold; undefined: it starts warm */
	private note({ env }: WorkerSpec, reason: string | undefined): void {
		const round = env.ELASTIC_RUN_ROUND ?? "";
		const before = this.starts.get(round) ?? { warm: 0, cold: 0 };
		const { warm, cold } = before;
		const now =
			reason === undefined ? { warm: warm + 1 } : { cold: cold + 1, reason };
		this.starts.set(round, { ...before, ...now });
		const [oldest = ""] = this.starts.keys();
		if (this.starts.size > KEPT_STARTS) this.starts.delete(oldest);
	}

	/** Whether the launcher itself needs this process. */
	isOwn(pid: number): boolean {
		return this.source.isOwn(pid);
	}

	close(): void {
		this.source.close();
	}

	private decide(spec: WorkerSpec): WarmDecision {
		const { helper, known } = this.source;
		return warmOrCold({
			helper: helper?.facts ?? {
				state: "none",
				flag: flagAgainstHook(spec.args),
			},
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
					if (!tellRefusal(worker, listener)) {
						this.quick.noteEnd(exit, spec.env.ELASTIC_RUN_ROUND);
						listener.exited(exit, groupRemains);
					}
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
			gone: () => {
				if (pid !== undefined) learning.gone(pid);
				listener.gone();
			},
		});
		pid = handle.pid;
		if (pid !== undefined) learning.begin({ pid, spec });
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
