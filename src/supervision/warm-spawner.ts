import { writeFileSync } from "node:fs";
import { hookPaths } from "../channel/layout.js";
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

/** Starts workers from a helper that has their imports, where that makes no difference to them. */
export class WarmSpawner implements WorkerSpawner {
	private readonly source: WarmSource;
	/** Those that were started cold. */
	private readonly specs = new Map<number, WorkerSpec>();
	private readonly quick = new QuickRounds();
	private said: string | undefined;

	constructor(private readonly options: WarmSpawnerOptions) {
		this.source = new WarmSource(options);
	}

	spawn(spec: WorkerSpec, listener: WorkerListener): WorkerHandle {
		const decision = this.decide(spec);
		this.tell(spec, decision);
		const warm =
			decision.start === "warm" ? this.spawnWarm(spec, listener) : undefined;
		return warm ?? this.spawnCold(spec, listener);
	}

	/** A worker has made a step. */
	stepped(pid: number): void {
		const spec = this.specs.get(pid);
		const hook = spec?.env.ELASTIC_RUN_HOOK;
		if (spec && hook !== undefined) this.source.learnFrom(pid, spec, hook);
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
		// The first start is always cold.
		if (this.said === undefined) log.debug(words);
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
		this.source.parkLater();
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
		const hook = spec.env.ELASTIC_RUN_HOOK;
		if (hook !== undefined && this.source.wantsToLearn) askToLearn(hook);
		let pid: number | undefined;
		const handle = this.options.cold.spawn(spec, {
			...listener,
			gone: () => {
				if (pid !== undefined) this.specs.delete(pid);
				listener.gone();
			},
		});
		pid = handle.pid;
		if (pid !== undefined) this.specs.set(pid, spec);
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

function askToLearn(hook: string): void {
	try {
		writeFileSync(hookPaths(hook).learn, "", { mode: 0o600 });
	} catch {
		// Its successor starts cold.
	}
}
