import type { Clock } from "../../clock.js";
import { isLiving, isProcOurs, readProcess } from "../../process-stat.js";
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
	readonly groups: Pick<GroupWatch, "watch">;
	/** Has just been spawned as the leader of its process group. */
	readonly child: {
		once(
			event: "exit",
			listener: (code: number | null, signal: NodeJS.Signals | null) => void,
		): unknown;
	};
	readonly pid: number;
	/** When its spawn began, by `clock`. */
	readonly startedAt: number;
	readonly listener: WorkerListener;
	/** Is told in words of what this agent may not end. */
	readonly warn: (message: string) => void;
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
	#isKilled = false;
	#isRefusalTold = false;

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
		this.#isKilled ||= signal === "SIGKILL";
		this.#tellIfRefused();
	}

	/** Once: SIGKILL has ended all that it may, and another user's processes are left. */
	#tellIfRefused(): void {
		if (!this.#isKilled || this.#isRefusalTold) return;
		if (signalGroup(this.pid, 0) !== "refused") return;
		this.#isRefusalTold = true;
		this.#options.warn(
			`the process group ${this.pid} of a worker belongs to another user (sudo, setuid), and this launcher may not end it: end it as that user; "pgrep -g ${this.pid}" lists it`,
		);
	}

	/** Never signals a number that the kernel may have given to somebody else. */
	#mayBeSignalled(): boolean {
		switch (this.#phase) {
			case "leader-runs": {
				const leader = leaderState(this.pid);
				this.#signalled ||= leader === "alive";
				return leader !== "reaped" || outlivesLeader(this.pid);
			}
			case "leader-exited":
				return outlivesLeader(this.pid);
			case "gone":
				return false;
		}
		return this.#phase satisfies never;
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
			if (alive) this.#tellIfRefused();
			else this.#forget();
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

/**
 * A leader that is dead already does not end because of us. Of those that end together all
 * are reaped before the first exit is told: such a pid may be somebody else's by now. Without
 * a /proc of its own a leader whose exit was not told counts as alive.
 */
function leaderState(pid: number): "alive" | "zombie" | "reaped" {
	if (!isProcOurs()) return "alive";
	const entry = readProcess(pid);
	if (entry?.parentId !== process.pid) return "reaped";
	return isLiving(entry) ? "alive" : "zombie";
}
