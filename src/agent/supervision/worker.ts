/** How a worker's leader process ended. */
export interface WorkerExit {
	/** The exit code, or null where a signal ended it. */
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
	/** This agent had signalled it before it ended: a collateral exit, not a cause. */
	readonly sentByUs: boolean;
	/** Milliseconds from spawn to exit. */
	readonly uptimeMs: number;
}

/** Why a process could not be started at all. */
export interface SpawnProblem {
	/** The system's error code: ENOENT, EACCES, E2BIG, EAGAIN, …; UNPREPARED where its channel or logs could not be made. */
	readonly code: string;
	/** What was wrong, where, and the fix. */
	readonly message: string;
}

/** What is needed to start one worker. */
export interface WorkerSpec {
	readonly localRank: number;
	readonly file: string;
	readonly args: readonly string[];
	readonly cwd: string;
	readonly env: Readonly<Record<string, string>>;
	/** An open file descriptor of the launcher that the worker gets as its stream. */
	readonly stdout: number;
	readonly stderr: number;
}

/** What becomes known of a worker after its spawn. Exactly one of `spawnFailed` or `exited`, then `gone` once. */
export interface WorkerListener {
	spawnFailed(problem: SpawnProblem): void;
	/** The leader ended; `groupRemains` says whether others of its process group live on. */
	exited(exit: WorkerExit, groupRemains: boolean): void;
	/** No process of its group is left (zombies do not count). */
	gone(): void;
}

/** One worker's process group. */
export interface WorkerHandle {
	/** The leader's pid, which is also the group's id; undefined where the spawn failed. */
	readonly pid: number | undefined;
	/** Signals the whole group; SIGCONT goes before, so that a stopped worker can answer. No effect once gone. */
	signal(signal: "SIGTERM" | "SIGKILL"): void;
}

/** Starts workers; the simulator has one of its own. */
export interface WorkerSpawner {
	spawn(spec: WorkerSpec, listener: WorkerListener): WorkerHandle;
}
