import type { Clock } from "../../clock.js";
import { messageOf, systemErrorCode } from "../../errors.js";
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
	/** The tool that makes the kernel kill a worker with its agent, as `findSetpriv` finds it or is still looking for it. */
	readonly setpriv: string | undefined | Promise<string | undefined>;
	/** The guard: knows each process group from its spawn until none of it is left. */
	readonly registry: GroupRegistry;
	/** Those that left their groups: ended once no worker is left, before the last one is told to be gone. */
	readonly escapees?: Escapees;
	/** Is told in words of processes that this agent may not end. */
	readonly warn: (message: string) => void;
}

/**
 * The spawner of real processes: each worker leads a process group and a session
 * of its own. It acts on the end of processes, never on the closing of their
 * streams, which a grandchild may hold open for ever. Loads its package when called.
 *
 * Between the spawn and the program stands setpriv, for a millisecond. What it
 * alone finds wrong with the program (a security rule, a file that is being written)
 * ends the worker with code 126 or 127, and its words are in the worker's stderr.
 */
export async function loadProcessSpawner(
	options: ProcessSpawnerOptions,
): Promise<WorkerSpawner> {
	const { execa } = await import("execa");
	const { clock } = options;
	const setpriv = await options.setpriv;
	const running = new RunningWorkers(options);
	const examine = examineOncePerTurn();

	const run = ({ file, args, cwd, env, stdout, stderr }: WorkerSpec) => {
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
			stdin: "ignore",
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
					// Its promise, which nobody waits for, would make up an error of all that is
					// known at each exit: a millisecond a worker, while others wait for their start.
					subprocess.removeAllListeners("exit");
					return running.follow(
						{ child: subprocess, pid, startedAt },
						listener,
					);
				}
				// Its promise, unlike its events, has the error wherever that was met.
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
	readonly #options: ProcessSpawnerOptions;
	readonly #groups: GroupWatch;
	#count = 0;

	constructor(options: ProcessSpawnerOptions) {
		this.#options = options;
		this.#groups = new GroupWatch(options.clock);
	}

	follow(
		process: Pick<WorkerProcessOptions, "child" | "pid" | "startedAt">,
		listener: WorkerListener,
	): WorkerHandle {
		const { clock, registry, escapees, warn } = this.#options;
		this.#count += 1;
		const worker = new WorkerProcess({
			...process,
			clock,
			registry,
			warn,
			groups: this.#groups,
			listener: {
				spawnFailed: (problem) => listener.spawnFailed(problem),
				exited: (exit, groupRemains) => listener.exited(exit, groupRemains),
				gone: () => this.#gone(listener),
			},
		});
		return {
			pid: worker.pid,
			signal(signal) {
				worker.signal(signal);
				if (signal === "SIGKILL") escapees?.kill();
			},
		};
	}

	#gone(listener: WorkerListener): void {
		const { escapees } = this.#options;
		this.#count -= 1;
		if (this.#count > 0 || escapees === undefined) listener.gone();
		else escapees.end(() => listener.gone());
	}
}

/** Any descriptor will do, but the package's types know only the first ten. */
type KnownDescriptor = 3;

const NOT_STARTED: WorkerHandle = { pid: undefined, signal: () => {} };

function explain(error: unknown, spec: WorkerSpec): SpawnProblem {
	return describeSpawnError(systemErrorCode(error), messageOf(error), spec);
}

/** Tells it later, as all that becomes known of a worker. */
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
