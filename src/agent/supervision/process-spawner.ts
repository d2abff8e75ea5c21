import type { ChildProcess } from "node:child_process";
import type { Clock } from "../../clock.js";
import { messageOf, systemErrorCode } from "../../errors.js";
import { examineCommand } from "./examine-command.js";
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
import { type GroupRegistry, WorkerProcess } from "./worker-process.js";

export interface ProcessSpawnerOptions {
	readonly clock: Clock;
	/** The tool that makes the kernel kill a worker with its agent, as `findSetpriv` finds it. */
	readonly setpriv: string | undefined;
	/** The guard: knows each process group from its spawn until none of it is left. */
	readonly registry: GroupRegistry;
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
	const { clock, setpriv, registry } = options;
	const groups = new GroupWatch(clock);

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
			const fault = examineCommand(spec);
			if (fault !== undefined)
				return failSpawn(listener, describeFault(fault, spec));
			const startedAt = clock.now();
			try {
				const subprocess = run(spec);
				const { pid } = subprocess;
				if (pid !== undefined) {
					const child: Pick<ChildProcess, "once"> = subprocess;
					return new WorkerProcess({
						clock,
						registry,
						groups,
						child,
						pid,
						startedAt,
						listener,
					});
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
