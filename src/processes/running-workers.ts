import type { Clock } from "../base/clock.js";
import { isLiving, isProcOurs, readProcess } from "../base/process-stat.js";
import type { StartKind } from "../model/start.js";
import type { Escapees } from "./escapees.js";
import {
	GroupCensus,
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

/** The workers that were started, however, and are not gone. */
export class RunningWorkers {
	private readonly groups: GroupWatch;
	private count = 0;

	constructor(private readonly options: RunningWorkersOptions) {
		this.groups = new GroupWatch(options.clock);
	}

	follow(
		process: Pick<
			WorkerProcessOptions,
			"child" | "pid" | "parentId" | "startedAt"
		>,
		listener: WorkerListener,
		start: StartKind = "cold",
	): WorkerHandle {
		this.count += 1;
		return new WorkerProcess({
			...this.options,
			...process,
			start,
			groups: this.groups,
			listener: { ...listener, gone: () => this.gone(listener) },
		});
	}

	private gone(listener: WorkerListener): void {
		const { escapees } = this.options;
		this.count -= 1;
		if (this.count > 0 || escapees === undefined) listener.gone();
		else escapees.end(() => listener.gone());
	}
}

export interface WorkerProcessOptions extends RunningWorkersOptions {
	readonly groups: Pick<GroupWatch, "watch">;
	readonly start?: StartKind;
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
}

/**
 * One worker's process group, from the spawn of its leader until it is empty.
 *
 * If a real-time signal (34 to 64) kills a leader, it seems to exit with code 0: Node has no names for these signals and
 * does not distinguish them from success.
 */
export class WorkerProcess implements WorkerHandle {
	readonly pid: number;
	readonly start: StartKind;
	private phase: "leader-runs" | "leader-exited" | "gone" = "leader-runs";
	private signalled = false;
	private isKilled = false;
	private hasWarned = false;

	constructor(private readonly options: WorkerProcessOptions) {
		this.pid = options.pid;
		this.start = options.start ?? "cold";
		options.registry.add(this.pid);
		// Not "close": a grandchild that has inherited a stream may delay that for ever.
		options.child.once("exit", (code, signal) =>
			this.leaderExited(code, signal),
		);
	}

	signal(signal: NodeJS.Signals): void {
		const isKill = signal === "SIGKILL";
		if (this.mayBeSignalled()) {
			if (!isKill) signalGroup(this.pid, "SIGCONT");
			signalGroup(this.pid, signal);
			this.isKilled ||= isKill;
			this.warnIfRefused();
		}
		if (isKill) this.options.escapees?.kill();
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
			if (alive) this.warnIfRefused();
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

const FIRST_DELAY_MS = 10;
const LONGEST_DELAY_MS = 100;

/** Called at each look with whether a process of the group lives; `false` is the last call. */
type GroupListener = (alive: boolean) => void;

interface WatchedGroup {
	readonly listener: GroupListener;
	/** A process of the group that was alive at the last look. */
	member: number | undefined;
}

/**
 * Waits until process groups whose leaders were reaped are empty. Only a parent learns of a process's end, so all groups
 * are polled together: that costs the same for one as for a hundred.
 */
class GroupWatch {
	private readonly groups = new Map<number, WatchedGroup>();
	private delayMs = 0;
	private cancelLook: (() => void) | undefined;

	constructor(private readonly clock: Clock) {}

	/** Calls `listener` at once if the group is empty, else soon and then repeatedly. */
	watch(groupId: number, listener: GroupListener): void {
		if (!outlivesLeader(groupId)) {
			listener(false);
			return;
		}
		this.groups.set(groupId, { listener, member: undefined });
		this.lookIn(0);
	}

	private lookIn(delayMs: number): void {
		this.cancelLook?.();
		this.delayMs = delayMs;
		this.cancelLook = this.clock.wakeAt(this.clock.now() + delayMs, () =>
			this.look(),
		);
	}

	private look(): void {
		this.cancelLook = undefined;
		const census = new GroupCensus();
		const looked = [...this.groups];
		for (const [groupId, group] of looked) {
			group.member = census.livingMember(groupId, group.member);
			if (group.member === undefined) this.groups.delete(groupId);
		}
		if (this.groups.size > 0) {
			const doubled = Math.max(FIRST_DELAY_MS, this.delayMs * 2);
			this.lookIn(Math.min(LONGEST_DELAY_MS, doubled));
		}
		// Last, because a listener may start another watch.
		for (const [, { listener, member }] of looked)
			listener(member !== undefined);
	}
}
