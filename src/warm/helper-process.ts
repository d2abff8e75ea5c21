import type { ChildProcess } from "node:child_process";
import type { Clock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import { readProcess } from "../base/process-stat.js";
import { wakeAfterRunning } from "../base/wake-after-running.js";
import type { ColdKind } from "../model/index.js";
import {
	type GroupRegistry,
	signalProcess,
	type WorkerSpec,
} from "../processes/index.js";
import type { ColdReason } from "./ahead.js";
import { bury, ForkedWorker } from "./forked-worker.js";
import {
	HelperControl,
	type HelperNews,
	helperEnvironment,
	type LeftOut,
	type Parked,
	type Ready,
	type Unfit,
	type WorkerStreams,
} from "./helper-messages.js";
import type { ToImport } from "./learned-imports.js";
import { conditionOf, spawnWaiting } from "./waiting-process.js";

export interface HelperOptions {
	readonly clock: Clock;
	readonly setpriv: string;
	readonly registry: GroupRegistry;
	/** A worker like those that it will start. */
	readonly spec: WorkerSpec;
	readonly toImport: ToImport;
	readonly leftOut: LeftOut;
	/** A process waits for its start. */
	readonly onParked: (news: Parked) => void;
	/** A process could not import what is for its worker alone. */
	readonly onUnfit: (news: Unfit) => void;
	readonly onReady: (news: Ready) => void;
	/** Once: it cannot start workers, or no more of them. `but`: it could without these modules. */
	readonly onRefused: (reason: string, but?: LeftOut) => void;
}

/** For which worker a process is parked. */
export interface Place {
	readonly localRank: number;
	/** As in the order to park one. */
	readonly place: Readonly<Record<string, string>> | null;
}

/** So long a program may take until Python runs its hook, in milliseconds: it would run the script without it. */
const HELLO_MS = 20_000;
const LOOK_EVERY_MS = 1_000;
const CONTROL_DESCRIPTOR = 3;
const IMPORTING: ColdReason = {
	kind: "not-ready",
	reason: "the helper is still importing",
};
const WAS_STOPPED: ColdReason = {
	kind: "ended",
	reason: "the helper was stopped by a signal",
};
const ENDED: ColdReason = { kind: "ended", reason: "its helper has ended" };

/** A process that has imported what workers import, and forks them. */
export class HelperProcess {
	private readonly child: ChildProcess;
	private readonly control: HelperControl;
	private state: "preparing" | "ready" | "refused" = "preparing";
	private refusal = ENDED;
	/** A process below the child, once it is ready: what imports fail in forks that end. */
	private forker: number | undefined;
	/** By local rank. */
	private readonly parked = new Map<number, ForkedWorker>();
	/** The local ranks for which it was told to park one, and has not said more. */
	private readonly awaited = new Set<number>();
	private readonly started = new Map<number, ForkedWorker>();
	private readonly turns = new RankZeroFirst();
	private cancelHello: () => void;
	private cancelLook: () => void = () => {};

	constructor(private readonly options: HelperOptions) {
		const { spec, setpriv, clock } = options;
		// It has the launcher's own streams too, for workers that write to them.
		const { child, pipe } = spawnWaiting(
			{ ...spec, env: helperEnvironment(spec.env) },
			setpriv,
			["ignore", "ignore", "ignore", "pipe", 0, 1, 2],
			CONTROL_DESCRIPTOR,
		);
		this.child = child;
		this.control = new HelperControl(pipe, (news) => {
			if (news === undefined) this.close();
			else this.receive(news);
		});
		child.once("exit", () => this.ended());
		child.once("error", (error) => this.refuse(messageOf(error)));
		this.cancelHello = wakeAfterRunning(clock, HELLO_MS, () =>
			this.refuse("Python does not run the launcher's hook"),
		);
		if (child.pid !== undefined) options.registry.add(child.pid);
	}

	/** That of the process that forks, once it is known. */
	get pid(): number | undefined {
		return this.forker ?? this.child.pid;
	}

	private condition(): "alive" | "stopped" | "gone" {
		const { pid, child } = this;
		return conditionOf(pid, pid === child.pid ? process.pid : child.pid);
	}

	private get isThere(): boolean {
		const { pid, exitCode, signalCode } = this.child;
		return pid !== undefined && exitCode === null && signalCode === null;
	}

	/** Why it can start no worker at this moment; undefined if it can. */
	get problem(): ColdReason | undefined {
		if (this.state === "refused") return this.refusal;
		if (this.state === "preparing") return IMPORTING;
		const condition = this.condition();
		if (condition === "gone") return ENDED;
		return condition === "stopped" ? WAS_STOPPED : undefined;
	}

	get isReady(): boolean {
		return this.problem === undefined;
	}

	get isImporting(): boolean {
		return this.state === "preparing";
	}

	/** How many processes wait for a start. */
	get waiting(): number {
		return this.livingParked().length;
	}

	/** Whether this process is the helper or waits for its work: no worker has left it behind. */
	isOwn(pid: number): boolean {
		if (!this.isThere) return false;
		const { parentId, sessionId } = readProcess(pid) ?? {};
		// It may not have said yet that it has forked this one.
		const isForked = parentId === this.pid && !this.started.has(pid);
		return sessionId === this.child.pid || isForked;
	}

	/** The process that waits for this worker's start. */
	waitingFor({ localRank }: WorkerSpec): ForkedWorker | undefined {
		const parked = this.parked.get(localRank);
		return parked?.isWaiting ? parked : undefined;
	}

	/** Makes a process wait for the start of each of these, without modules that must be left out. */
	park(places: readonly Place[], leftOut: LeftOut): void {
		if (this.state !== "ready") return;
		for (const { localRank, place } of places) {
			if (this.awaited.has(localRank)) continue;
			const parked = this.parked.get(localRank);
			if (parked?.isWaiting) {
				if (!place || !parked.differenceFrom(place)) continue;
				signalProcess(parked.pid, "SIGKILL");
			}
			this.awaited.add(localRank);
			this.control.send({ kind: "park", localRank, place, ...leftOut });
		}
	}

	/** Makes a parked process the worker. Call it only if one waits for it. */
	start(spec: WorkerSpec, streams: WorkerStreams): ForkedWorker {
		const taken = this.waitingFor(spec);
		if (taken === undefined) throw new Error("no process is parked");
		const { pid } = taken;
		this.parked.delete(spec.localRank);
		this.started.set(pid, taken);
		const { env, cwd, readsStdin = false } = spec;
		const order = { env, cwd, readsStdin, ...streams };
		this.turns.add(pid, env.RANK, () => {
			this.control.send({ kind: "start", pid, ...order });
			taken.told(this.options.clock, (reason) => this.refuse(reason));
		});
		this.lookLater();
		return taken;
	}

	/** A start may follow soon: the look at the preloaded files takes a while. */
	expectStart(): void {
		if (this.state === "ready") this.control.send({ kind: "look" });
	}

	/** Ends it, and with it all its workers. */
	close(): void {
		this.cancelHello();
		this.cancelLook();
		if (this.isThere) signalProcess(this.child.pid ?? 0, "SIGKILL");
	}

	/** A helper without workers ends now, one with workers when the last of them has ended. */
	retire(reason: string, kind: ColdKind = "not-ready"): void {
		if (this.state !== "refused") this.refusal = { reason, kind };
		this.state = "refused";
		for (const { pid } of this.parked.values()) signalProcess(pid, "SIGKILL");
		if (this.started.size === 0) this.close();
	}

	private livingParked(): readonly ForkedWorker[] {
		return [...this.parked.values()].filter(({ isWaiting }) => isWaiting);
	}

	private receive(news: HelperNews): void {
		const { toImport, leftOut, onReady, spec } = this.options;
		switch (news.kind) {
			case "hello":
				this.cancelHello();
				this.control.prepare(spec, toImport, leftOut);
				return;
			case "ready":
				if (this.state !== "preparing") return;
				this.state = "ready";
				this.forker = news.pid;
				onReady(news);
				return;
			case "refused":
				this.refuse(news.reason, news);
				return;
			case "parked":
				this.nowParked(news);
				return;
			case "unfit":
				this.awaited.delete(news.localRank);
				if (this.state === "ready") this.options.onUnfit(news);
				return;
			case "started":
				this.started.get(news.pid)?.begun();
				this.turns.settled(news.pid);
				return;
			case "not-started":
				this.started.get(news.pid)?.refused(news.reason);
				this.refuse(news.reason);
				return;
			case "exited":
				this.exited(news.pid, news.status);
				return;
			default:
				news satisfies never;
		}
	}

	private nowParked(news: Parked): void {
		const { pid, localRank, reads } = news;
		this.awaited.delete(localRank);
		this.parked.set(
			localRank,
			new ForkedWorker(pid, this.pid ?? 0, reads ?? {}),
		);
		if (this.state === "refused") signalProcess(pid, "SIGKILL");
		else this.options.onParked(news);
	}

	private exited(pid: number, status: number): void {
		for (const [localRank, parked] of this.parked)
			if (parked.pid === pid) this.parked.delete(localRank);
		const worker = this.started.get(pid);
		this.started.delete(pid);
		worker?.ended(status);
		this.turns.settled(pid);
		if (this.started.size > 0) return;
		this.cancelLook();
		if (this.state === "refused") this.close();
	}

	private refuse(
		reason: string,
		but?: LeftOut,
		kind: ColdKind = "refused",
	): void {
		if (this.state === "refused") return;
		this.retire(reason, kind);
		this.options.onRefused(reason, but);
	}

	/** Nobody else reports the ends of its workers: it must not stand still. */
	private lookLater(): void {
		const { clock } = this.options;
		this.cancelLook();
		this.cancelLook = clock.wakeAt(clock.now() + LOOK_EVERY_MS, () => {
			const { pid } = this;
			if (pid && this.condition() === "stopped") signalProcess(pid, "SIGCONT");
			if (this.started.size > 0) this.lookLater();
		});
	}

	/** The kernel has ended its workers with it. */
	private ended(): void {
		this.cancelLook();
		this.cancelHello();
		const { pid } = this.child;
		if (pid !== undefined) this.options.registry.remove(pid);
		this.refuse(ENDED.reason, undefined, ENDED.kind);
		this.parked.clear();
		const { clock } = this.options;
		for (const worker of this.started.values()) bury(worker, clock);
	}
}

/**
 * Lets rank 0 begin before the other workers of its node. They connect to it, and PyTorch waits for half a second before
 * it tries again where rank 0 does not listen yet.
 */
export class RankZeroFirst {
	private pid: number | undefined;
	private readonly others: (() => void)[] = [];

	/** Calls `start` at once, or once rank 0 has begun. */
	add(pid: number, rank: string | undefined, start: () => void): void {
		if (this.pid !== undefined) {
			this.others.push(start);
			return;
		}
		if (rank === "0") this.pid = pid;
		start();
	}

	/** This worker, whichever it is, has begun or ended. */
	settled(pid: number): void {
		if (pid !== this.pid) return;
		this.pid = undefined;
		for (const start of this.others.splice(0)) start();
	}
}
