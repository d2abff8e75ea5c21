import { type StdioOptions, spawn } from "node:child_process";
import { messageOf, systemErrorCode } from "../base/errors.js";
import {
	RunningWorkers,
	type RunningWorkersOptions,
} from "./running-workers.js";
import { killWithParent } from "./setpriv.js";
import {
	describeFault,
	describeSpawnError,
	examineOncePerTurn,
} from "./spawn-problem.js";
import type {
	SpawnProblem,
	WorkerHandle,
	WorkerListener,
	WorkerSpawner,
	WorkerSpec,
} from "./worker.js";

export interface ProcessSpawnerOptions extends RunningWorkersOptions {
	/** The tool that makes the kernel kill a worker with its agent: the result of `findSetpriv`, or its promise. */
	readonly setpriv: string | undefined | Promise<string | undefined>;
	/** Follows what is spawned, if others start workers too. */
	readonly running?: RunningWorkers;
}

/**
 * Spawns real processes, each as the leader of its process group and session. It reacts to the end of processes, never to
 * the end of their streams, which a grandchild may hold open for ever.
 *
 * For a millisecond after the spawn, setpriv runs before it becomes the program. If setpriv cannot start the program (a
 * security rule, a file being written), the worker ends with code 126 or 127, and the message is in its stderr.
 */
export async function openProcessSpawner(
	options: ProcessSpawnerOptions,
): Promise<WorkerSpawner> {
	const { clock, running = new RunningWorkers(options) } = options;
	const setpriv = await options.setpriv;
	const examine = examineOncePerTurn();

	const run = (spec: WorkerSpec) => {
		const { file, args, cwd, env, readsStdin, stdout, stderr } = spec;
		const program = setpriv ?? file;
		const programArgs =
			setpriv === undefined ? args : killWithParent(file, args);
		// The descriptor itself: input that one worker has not read is left for the next. The worker may read from the
		// terminal although it is not in its foreground group.
		const stdin = readsStdin ? "inherit" : "ignore";
		const stdio: StdioOptions = [stdin, stdout, stderr];
		return spawn(program, programArgs, { cwd, env, detached: true, stdio });
	};

	return {
		spawn(spec, listener) {
			const fault = examine(spec);
			if (fault !== undefined)
				return failSpawn(listener, describeFault(fault, spec));
			const startedAt = clock.now();
			try {
				const child = run(spec);
				const { pid } = child;
				if (pid !== undefined) {
					return running.follow({ child, pid, startedAt }, listener);
				}
				child.once("error", (error) =>
					reportFailure(listener, explain(error, spec)),
				);
				return NOT_STARTED;
			} catch (error) {
				return failSpawn(listener, explain(error, spec));
			}
		},
	};
}

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
	queueMicrotask(() => reportFailure(listener, problem));
	return NOT_STARTED;
}

function reportFailure(listener: WorkerListener, problem: SpawnProblem): void {
	listener.spawnFailed(problem);
	listener.gone();
}
