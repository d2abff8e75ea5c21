import type { ChildProcess } from "node:child_process";
import type { Clock } from "../../clock.js";
import { isLiving, readProcess } from "../../process-stat.js";
import type { GroupWatch } from "./group-watch.js";
import { outlivesLeader, signalGroup } from "./process-group.js";
import type { WorkerExit, WorkerHandle, WorkerListener } from "./worker.js";

/** Who is told of each process group while it lives. */
export interface GroupRegistry {
	add(groupId: number): void;
	remove(groupId: number): void;
}

export interface WorkerProcessOptions {
	readonly clock: Clock;
	readonly registry: GroupRegistry;
	readonly groups: GroupWatch;
	/** Has just been spawned as the leader of its process group. */
	readonly child: Pick<ChildProcess, "once">;
	readonly pid: number;
	/** When its spawn began, by `clock`. */
	readonly startedAt: number;
	readonly listener: WorkerListener;
}

/**
 * One worker's process group, from the spawn of its leader until it is empty.
 *
 * A leader that dies of a real-time signal (34 to 64) appears to exit with code 0:
 * Node has no name for these signals and tells them from success in no way.
 */
export class WorkerProcess implements WorkerHandle {
	readonly pid: number;
	readonly #options: WorkerProcessOptions;
	#phase: "leader-runs" | "leader-exited" | "gone" = "leader-runs";
	#signalled = false;

	constructor(options: WorkerProcessOptions) {
		this.pid = options.pid;
		this.#options = options;
		options.registry.add(this.pid);
		options.child.once("exit", (code, signal) =>
			this.#leaderExited(code, signal),
		);
	}

	signal(signal: "SIGTERM" | "SIGKILL"): void {
		if (!this.#mayBeSignalled()) return;
		if (signal === "SIGTERM") signalGroup(this.pid, "SIGCONT");
		signalGroup(this.pid, signal);
	}

	/** Never signals a number that the kernel may have given to somebody else. */
	#mayBeSignalled(): boolean {
		switch (this.#phase) {
			case "leader-runs":
				this.#signalled ||= this.#leaderLives();
				return true;
			case "leader-exited":
				return outlivesLeader(this.pid);
			case "gone":
				return false;
		}
		return this.#phase satisfies never;
	}

	/** A leader that is dead already, but not reaped, does not end because of us. */
	#leaderLives(): boolean {
		const entry = readProcess(this.pid);
		return entry === undefined || isLiving(entry);
	}

	#leaderExited(code: number | null, signal: NodeJS.Signals | null): void {
		this.#phase = "leader-exited";
		const { clock, groups, startedAt } = this.#options;
		const exit: WorkerExit = {
			code,
			signal,
			sentByUs: this.#signalled,
			uptimeMs: Math.round(clock.now() - startedAt),
		};
		let isTold = false;
		groups.watch(this.pid, (alive) => {
			if (!alive) this.#forget();
			if (!isTold) this.#options.listener.exited(exit, alive);
			isTold = true;
			if (!alive) this.#options.listener.gone();
		});
	}

	#forget(): void {
		this.#phase = "gone";
		this.#options.registry.remove(this.pid);
	}
}
