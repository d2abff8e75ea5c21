import type { StartKind } from "../model/index.js";

/** How a worker's leader process ended. */
export interface WorkerExit {
	/** The exit code, or null if a signal ended it. */
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
	/** This agent had signalled it before it ended: the exit is a consequence, not a cause. */
	readonly signalledByAgent: boolean;
	/** Milliseconds from spawn to exit. */
	readonly uptimeMs: number;
}

/** Why a process could not be started. */
export interface SpawnProblem {
	/** The system's error code: ENOENT, EACCES, E2BIG, EAGAIN, …; UNPREPARED if its channel or logs could not be made. */
	readonly code: string;
	/** What is wrong, where, and how to fix it. */
	readonly message: string;
}

/** What starting a worker needs. */
export interface WorkerSpec {
	readonly localRank: number;
	readonly file: string;
	readonly args: readonly string[];
	readonly cwd: string;
	readonly env: Readonly<Record<string, string>>;
	/** It reads the launcher's stdin; otherwise its stdin is empty. */
	readonly readsStdin?: boolean;
	/** An open file descriptor of the launcher, used as the worker's stream. */
	readonly stdout: number;
	readonly stderr: number;
	/** Opens the streams that the next worker of this rank will have; undefined if they are not known. */
	readonly openNext?: () => NextStreams | undefined;
}

/** The streams of a worker that will be started. */
export interface NextStreams extends Pick<WorkerSpec, "stdout" | "stderr"> {
	/** Closes what was opened only for it. */
	close(): void;
}

/** The events of a worker after its spawn. Exactly one of `spawnFailed` or `exited`, then `gone` once. */
export interface WorkerListener {
	spawnFailed(problem: SpawnProblem): void;
	/** The leader ended; `groupRemains` says whether other processes of its group live on. */
	exited(exit: WorkerExit, groupRemains: boolean): void;
	/** No process of its group is left (zombies do not count). */
	gone(): void;
}

export interface WorkerHandle {
	/** The leader's pid, which is also the group's id; undefined if the spawn failed. */
	readonly pid: number | undefined;
	/** Default: cold. */
	readonly start?: StartKind;
	/** Ends the whole group by a signal, with SIGCONT first, so that a stopped worker can react. No effect once gone. */
	signal(signal: NodeJS.Signals): void;
	/** Passes a signal on to the leader alone; if it dies of it, that is a failure. Returns whether the leader lives. */
	passOn(signal: NodeJS.Signals): boolean;
}

/** Starts workers; the simulator has its own. */
export interface WorkerSpawner {
	spawn(spec: WorkerSpec, listener: WorkerListener): WorkerHandle;
}
