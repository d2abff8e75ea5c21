import type { Clock } from "../base/clock.js";
import { isLiving, isProcOurs, readProcess } from "../base/process-stat.js";
import type { StartKind } from "../model/index.js";
import type { Escapees } from "./escapees.js";
import {
	GroupWatch,
	outlivesLeader,
	signalGroup,
	signalProcess,
} from "./process-group.js";
import type { WorkerExit, WorkerHandle, WorkerListener } from "./worker.js";

/** Receives each process group at its start and its end. */
export interface GroupRegistry {
	add(groupId: number): void;
	remove(groupId: number): void;
}

export interface RunningWorkersOptions {
	readonly clock: Clock;
	/** The guard: knows each process group from its spawn until it is empty. */
	readonly registry: GroupRegistry;
	/** Ends processes that left their groups, after the last worker and before its end is reported. */
	readonly escapees?: Escapees;
	/** Receives a message about processes that this agent may not end. */
	readonly warn: (message: string) => void;
}

/** The leader of a worker's process group, just spawned. */
export interface LeaderProcess {
	readonly child: {
		once(
			event: "exit",
			listener: (code: number | null, signal: NodeJS.Signals | null) => void,
		): unknown;
	};
	readonly pid: number;
	/** Its parent; default: this process. */
	readonly parentId?: number;
	/** When its spawn began, by the clock. */
	readonly startedAt: number;
}

/** The workers that were started, however, and are not gone. */
export class RunningWorkers {
	private count = 0;

	constructor(
		readonly options: RunningWorkersOptions,
		readonly groups: Pick<GroupWatch, "watch"> = new GroupWatch(options.clock),
	) {}

	follow(
		leader: LeaderProcess,
		listener: WorkerListener,
		start: StartKind = "cold",
	): WorkerHandle {
		this.count += 1;
		return new WorkerProcess(this, leader, listener, start);
	}

	/** No process of one of them is left. After the last one `onEnded` waits for those that left their groups. */
	gone(onEnded: () => void): void {
		const { escapees } = this.options;
		this.count -= 1;
		if (this.count > 0 || escapees === undefined) onEnded();
		else escapees.end(onEnded);
	}
}

/**
 * One worker's process group, from the spawn of its leader until it is empty.
 *
 * If a real-time signal (34 to 64) kills a leader, it seems to exit with code 0: Node has no names for these signals and
 * does not distinguish them from success.
 */
class WorkerProcess implements WorkerHandle {
	private phase: "leader-runs" | "leader-exited" | "gone" = "leader-runs";
	private signalled = false;
	private isKilled = false;
	private hasWarned = false;

	constructor(
		private readonly running: RunningWorkers,
		private readonly leader: LeaderProcess,
		private readonly listener: WorkerListener,
		readonly start: StartKind,
	) {
		running.options.registry.add(this.pid);
		// Not "close": a grandchild that has inherited a stream may delay that for ever.
		leader.child.once("exit", (code, signal) =>
			this.leaderExited(code, signal),
		);
	}

	get pid(): number {
		return this.leader.pid;
	}

	signal(signal: NodeJS.Signals): void {
		const isKill = signal === "SIGKILL";
		if (this.mayBeSignalled()) {
			if (!isKill) signalGroup(this.pid, "SIGCONT");
			signalGroup(this.pid, signal);
			this.isKilled ||= isKill;
			this.warnIfRefused();
		}
		if (isKill) this.running.options.escapees?.kill();
	}

	passOn(signal: NodeJS.Signals): boolean {
		if (this.phase !== "leader-runs" || this.leaderState() !== "alive") {
			return false;
		}
		return signalProcess(this.pid, signal) === "sent";
	}

	/** Once: SIGKILL has ended all that it may, and only other users' processes are left. */
	private warnIfRefused(): void {
		if (!this.isKilled || this.hasWarned) return;
		if (signalGroup(this.pid, 0) !== "refused") return;
		this.hasWarned = true;
		this.running.options.warn(
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
		const { groups, options } = this.running;
		const exit: WorkerExit = {
			code,
			signal,
			signalledByAgent: this.signalled,
			uptimeMs: Math.round(options.clock.now() - this.leader.startedAt),
		};
		let isTold = false;
		groups.watch(this.pid, (alive) => {
			if (alive) this.warnIfRefused();
			else this.forget();
			if (!isTold) this.listener.exited(exit, alive);
			isTold = true;
			if (!alive) this.running.gone(() => this.listener.gone());
		});
	}

	private forget(): void {
		this.phase = "gone";
		this.running.options.registry.remove(this.pid);
	}

	/**
	 * A leader that is already dead does not end because of the launcher. If several end together, all are reaped before the
	 * first exit event, so such a pid may be another process by now. Without a usable /proc a leader counts as alive until
	 * its exit event.
	 */
	private leaderState(): "alive" | "zombie" | "reaped" {
		if (!isProcOurs()) return "alive";
		const entry = readProcess(this.pid);
		const { parentId = process.pid } = this.leader;
		if (entry?.parentId !== parentId) return "reaped";
		return isLiving(entry) ? "alive" : "zombie";
	}
}
