import type { Clock } from "../base/clock.js";
import { isLiving, isProcOurs, readProcess } from "../base/process-stat.js";
import type { GroupWatch } from "./group-watch.js";
import { outlivesLeader, signalGroup, signalProcess } from "./process-group.js";
import type { WorkerExit, WorkerHandle, WorkerListener } from "./worker.js";

/** Receives each process group at its start and its end. */
export interface GroupRegistry {
	add(groupId: number): void;
	remove(groupId: number): void;
}

export interface WorkerProcessOptions {
	readonly clock: Clock;
	readonly registry: GroupRegistry;
	readonly groups: Pick<GroupWatch, "watch">;
	/** The leader of its process group, just spawned. */
	readonly child: {
		once(
			event: "exit",
			listener: (code: number | null, signal: NodeJS.Signals | null) => void,
		): unknown;
	};
	readonly pid: number;
	/** Its parent; default: this process. */
	readonly parentId?: number;
	/** When its spawn began, by `clock`. */
	readonly startedAt: number;
	readonly listener: WorkerListener;
	/** Receives a message about processes that this agent may not end. */
	readonly warn: (message: string) => void;
}

/**
 * One worker's process group, from the spawn of its leader until it is empty.
 *
 * If a real-time signal (34 to 64) kills a leader, it seems to exit with code 0: Node has no names for these signals and
 * does not distinguish them from success.
 */
export class WorkerProcess implements WorkerHandle {
	readonly pid: number;
	private readonly options: WorkerProcessOptions;
	private phase: "leader-runs" | "leader-exited" | "gone" = "leader-runs";
	private signalled = false;
	private isKilled = false;
	private isRefusalTold = false;

	constructor(options: WorkerProcessOptions) {
		this.pid = options.pid;
		this.options = options;
		options.registry.add(this.pid);
		options.child.once("exit", (code, signal) =>
			this.leaderExited(code, signal),
		);
	}

	signal(signal: NodeJS.Signals): void {
		if (!this.mayBeSignalled()) return;
		if (signal !== "SIGKILL") signalGroup(this.pid, "SIGCONT");
		signalGroup(this.pid, signal);
		this.isKilled ||= signal === "SIGKILL";
		this.tellIfRefused();
	}

	passOn(signal: NodeJS.Signals): boolean {
		if (this.phase !== "leader-runs" || this.leaderState() !== "alive") {
			return false;
		}
		return signalProcess(this.pid, signal) === "sent";
	}

	/** Once: SIGKILL has ended all that it may, and only other users' processes are left. */
	private tellIfRefused(): void {
		if (!this.isKilled || this.isRefusalTold) return;
		if (signalGroup(this.pid, 0) !== "refused") return;
		this.isRefusalTold = true;
		this.options.warn(
			`the process group ${this.pid} of a worker belongs to another user (sudo, setuid), and this launcher may not end it: end it as that user; "pgrep -g ${this.pid}" lists it`,
		);
	}

	/** Never signals a number that the kernel may have reused. */
	private mayBeSignalled(): boolean {
		switch (this.phase) {
			case "leader-runs": {
				const leader = this.leaderState();
				this.signalled ||= leader === "alive";
				return leader !== "reaped" || outlivesLeader(this.pid);
			}
			case "leader-exited":
				return outlivesLeader(this.pid);
			case "gone":
				return false;
		}
		return this.phase satisfies never;
	}

	private leaderExited(
		code: number | null,
		signal: NodeJS.Signals | null,
	): void {
		this.phase = "leader-exited";
		const { clock, groups, startedAt } = this.options;
		const exit: WorkerExit = {
			code,
			signal,
			signalledByAgent: this.signalled,
			uptimeMs: Math.round(clock.now() - startedAt),
		};
		let isTold = false;
		groups.watch(this.pid, (alive) => {
			if (alive) this.tellIfRefused();
			else this.forget();
			if (!isTold) this.options.listener.exited(exit, alive);
			isTold = true;
			if (!alive) this.options.listener.gone();
		});
	}

	private forget(): void {
		this.phase = "gone";
		this.options.registry.remove(this.pid);
	}

	/**
	 * A leader that is already dead does not end because of the launcher. If several end together, all are reaped before the
	 * first exit event, so such a pid may be another process by now. Without a usable /proc a leader counts as alive until
	 * its exit event.
	 */
	private leaderState(): "alive" | "zombie" | "reaped" {
		if (!isProcOurs()) return "alive";
		const entry = readProcess(this.pid);
		const { parentId = process.pid } = this.options;
		if (entry?.parentId !== parentId) return "reaped";
		return isLiving(entry) ? "alive" : "zombie";
	}
}
