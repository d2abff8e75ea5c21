import type { Clock } from "../base/clock.js";
import { messageOf, systemErrorCode } from "../base/errors.js";
import type { Escapees } from "./escapees.js";
import { examineOncePerTurn } from "./examine-command.js";
import { GroupWatch } from "./group-watch.js";
import { killWithParent } from "./setpriv.js";
import { describeFault, describeSpawnError } from "./spawn-problem.js";
import type {
	SpawnProblem,
	WorkerHandle,
	WorkerListener,
	WorkerSpawner,
	WorkerSpec,
} from "./worker.js";
import {
	type GroupRegistry,
	WorkerProcess,
	type WorkerProcessOptions,
} from "./worker-process.js";

export interface ProcessSpawnerOptions {
	readonly clock: Clock;
	/** The tool that makes the kernel kill a worker with its agent: the result of `findSetpriv`, or its promise. */
	readonly setpriv: string | undefined | Promise<string | undefined>;
	/** The guard: knows each process group from its spawn until it is empty. */
	readonly registry: GroupRegistry;
	/** Ends processes that left their groups, after the last worker and before its end is reported. */
	readonly escapees?: Escapees;
	/** Receives a message about processes that this agent may not end. */
	readonly warn: (message: string) => void;
}

/**
 * Spawns real processes, each as the leader of its process group and session. It reacts to the end of processes, never to
 * the end of their streams, which a grandchild may hold open for ever. Loads its package when called.
 *
 * For a millisecond after the spawn, setpriv runs before it becomes the program. If setpriv cannot start the program (a
 * security rule, a file being written), the worker ends with code 126 or 127, and the message is in its stderr.
 */
export async function loadProcessSpawner(
	options: ProcessSpawnerOptions,
): Promise<WorkerSpawner> {
	const { execa } = await import("execa");
	const { clock } = options;
	const setpriv = await options.setpriv;
	const running = new RunningWorkers(options);
	const examine = examineOncePerTurn();

	const run = (spec: WorkerSpec) => {
		const { file, args, cwd, env, readsStdin, stdout, stderr } = spec;
		const program = setpriv ?? file;
		const programArgs =
			setpriv === undefined ? args : killWithParent(file, args);
		return execa(program, programArgs, {
			cwd,
			env,
			extendEnv: false,
			detached: true,
			cleanup: false,
			reject: false,
			buffer: false,
			// The descriptor itself: input that one worker has not read is left for the next. The worker may read from the
			// terminal although it is not in its foreground group.
			stdin: readsStdin ? "inherit" : "ignore",
			stdout: stdout as KnownDescriptor,
			stderr: stderr as KnownDescriptor,
		});
	};

	return {
		spawn(spec, listener) {
			const fault = examine(spec);
			if (fault !== undefined)
				return failSpawn(listener, describeFault(fault, spec));
			const startedAt = clock.now();
			try {
				const subprocess = run(spec);
				const { pid } = subprocess;
				if (pid !== undefined) {
					// For its promise, which nobody awaits, it would build a detailed error at each exit: a millisecond per worker,
					// while others wait for their start.
					subprocess.removeAllListeners("exit");
					return running.follow(
						{ child: subprocess, pid, startedAt },
						listener,
					);
				}
				// Unlike the events, its promise has every error.
				void subprocess.then(({ cause }) =>
					tellFailure(listener, explain(cause, spec)),
				);
				return NOT_STARTED;
			} catch (error) {
				return failSpawn(listener, explain(error, spec));
			}
		},
	};
}

/** The workers that were spawned and are not gone. */
class RunningWorkers {
	private readonly options: ProcessSpawnerOptions;
	private readonly groups: GroupWatch;
	private count = 0;

	constructor(options: ProcessSpawnerOptions) {
		this.options = options;
		this.groups = new GroupWatch(options.clock);
	}

	follow(
		process: Pick<WorkerProcessOptions, "child" | "pid" | "startedAt">,
		listener: WorkerListener,
	): WorkerHandle {
		const { clock, registry, escapees, warn } = this.options;
		this.count += 1;
		const worker = new WorkerProcess({
			...process,
			clock,
			registry,
			warn,
			groups: this.groups,
			listener: { ...listener, gone: () => this.gone(listener) },
		});
		return {
			pid: worker.pid,
			signal(signal) {
				worker.signal(signal);
				if (signal === "SIGKILL") escapees?.kill();
			},
			passOn: (signal) => worker.passOn(signal),
		};
	}

	private gone(listener: WorkerListener): void {
		const { escapees } = this.options;
		this.count -= 1;
		if (this.count > 0 || escapees === undefined) listener.gone();
		else escapees.end(() => listener.gone());
	}
}

/** Any descriptor works, but the package's types know only the first ten. */
type KnownDescriptor = 3;

const NOT_STARTED: WorkerHandle = {
	pid: undefined,
	signal: () => {},
	passOn: () => false,
};

function explain(error: unknown, spec: WorkerSpec): SpawnProblem {
	return describeSpawnError(systemErrorCode(error), messageOf(error), spec);
}

/** Reports it asynchronously, like every other event of a worker. */
function failSpawn(
	listener: WorkerListener,
	problem: SpawnProblem,
): WorkerHandle {
	queueMicrotask(() => tellFailure(listener, problem));
	return NOT_STARTED;
}

function tellFailure(listener: WorkerListener, problem: SpawnProblem): void {
	listener.spawnFailed(problem);
	listener.gone();
}
