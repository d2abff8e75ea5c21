import type { ChildProcess } from "node:child_process";
import { messageOf } from "../base/errors.js";
import { isLiving, readProcess } from "../base/process-stat.js";
import { wakeAfterRunning } from "../base/wake-after-running.js";
import type { ColdKind } from "../model/start.js";
import { signalProcess, type WorkerSpec } from "../processes/index.js";
import type { LeftOut } from "./left-out.js";
import { RankZeroFirst } from "./rank-zero-first.js";
import { spawnHelper, WarmControl } from "./warm-control.js";
import type { WarmHelperOptions } from "./warm-helper-options.js";
import type { WarmNews, WarmStreams } from "./warm-messages.js";
import type { ColdReason, WarmFacts } from "./warm-or-cold.js";
import { bury, WarmProcess } from "./warm-process.js";

/** So long a program may take until Python runs its hook, in milliseconds: it would run the script without it. */
const HELLO_MS = 20_000;
const LOOK_EVERY_MS = 1_000;
/** A process under SIGSTOP. */
const STOPPED = "T";
const ENDED: ColdReason = { kind: "ended", reason: "its helper has ended" };

/** A process that has imported what workers import, and forks them. */
export class WarmHelper {
	private readonly child: ChildProcess;
	private readonly control: WarmControl;
	private state: "preparing" | "ready" | "refused" = "preparing";
	private refusal = ENDED;
	private readonly parked = new Map<number, WarmProcess>();
	/** Those that it was told to park, and has not said to be. */
	private awaited = 0;
	private readonly started = new Map<number, WarmProcess>();
	private readonly turns = new RankZeroFirst();
	private cancelHello: () => void;
	private cancelLook: () => void = () => {};

	constructor(private readonly options: WarmHelperOptions) {
		const { spec, setpriv, clock } = options;
		const { child, socket } = spawnHelper(spec, setpriv);
		this.child = child;
		this.control = new WarmControl(socket, (news) => {
			if (news === undefined) this.close();
			else this.hear(news);
		});
		child.once("exit", () => this.ended());
		child.once("error", (error) => this.refuse(messageOf(error)));
		child.unref();
		this.cancelHello = wakeAfterRunning(clock, HELLO_MS, () =>
			this.refuse("Python does not run the launcher's hook"),
		);
		if (child.pid !== undefined) options.registry.add(child.pid);
	}

	get pid(): number | undefined {
		return this.child.pid;
	}

	private get isThere(): boolean {
		const { pid, exitCode, signalCode } = this.child;
		return pid !== undefined && exitCode === null && signalCode === null;
	}

	/** What it could do at this moment. */
	get facts(): WarmFacts["helper"] {
		if (this.state === "refused") return { state: "refused", ...this.refusal };
		if (this.state === "preparing") return { state: "preparing" };
		const entry = this.pid === undefined ? undefined : readProcess(this.pid);
		if (entry === undefined || !isLiving(entry)) {
			return { state: "refused", ...ENDED };
		}
		if (entry.state === STOPPED) return { state: "stopped" };
		return { state: "ready", parked: this.livingParked().length };
	}

	/** Whether this process is the helper or waits for its work: no worker has left it behind. */
	isOwn(pid: number): boolean {
		if (!this.isThere) return false;
		// It may not have said yet that it has forked this one.
		const isForked = readProcess(pid)?.parentId === this.pid;
		return pid === this.pid || (isForked && !this.started.has(pid));
	}

	/** Makes so many processes wait for a start. */
	park(count: number): void {
		const missing = count - this.livingParked().length - this.awaited;
		if (this.state === "ready" && missing > 0) {
			this.awaited += missing;
			this.control.send({ kind: "park", count: missing });
		}
	}

	/** Makes a parked process the worker. Call it only if `facts` has one. */
	start(spec: WorkerSpec, streams: WarmStreams): WarmProcess {
		const [taken] = this.livingParked();
		if (taken === undefined) throw new Error("no process is parked");
		const { pid } = taken;
		this.parked.delete(pid);
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
		if (this.isThere) signalProcess(this.pid ?? 0, "SIGKILL");
	}

	/** A helper without workers ends now, one with workers when the last of them has ended. */
	retire(reason: string, kind: ColdKind = "not-ready"): void {
		if (this.state !== "refused") this.refusal = { reason, kind };
		this.state = "refused";
		for (const { pid } of this.parked.values()) signalProcess(pid, "SIGKILL");
		if (this.started.size === 0) this.close();
	}

	private livingParked(): readonly WarmProcess[] {
		return [...this.parked.values()].filter(({ isWaiting }) => isWaiting);
	}

	private hear(news: WarmNews): void {
		const { toImport, leftOut, onReady, spec } = this.options;
		switch (news.kind) {
			case "hello":
				this.cancelHello();
				this.control.prepare(spec, toImport, leftOut);
				return;
			case "ready":
				if (this.state !== "preparing") return;
				this.state = "ready";
				onReady(news);
				return;
			case "refused":
				this.refuse(news.reason, news);
				return;
			case "parked":
				this.awaited -= 1;
				this.parked.set(news.pid, new WarmProcess(news.pid, this.pid ?? 0));
				if (this.state === "refused") signalProcess(news.pid, "SIGKILL");
				this.options.onParked();
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

	private exited(pid: number, status: number): void {
		this.parked.delete(pid);
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
			const isStopped = pid && readProcess(pid)?.state === STOPPED;
			if (isStopped) signalProcess(pid, "SIGCONT");
			if (this.started.size > 0) this.lookLater();
		});
	}

	/** The kernel has ended its workers with it. */
	private ended(): void {
		this.cancelLook();
		this.cancelHello();
		if (this.pid !== undefined) this.options.registry.remove(this.pid);
		this.refuse(ENDED.reason, undefined, ENDED.kind);
		this.parked.clear();
		const { clock } = this.options;
		for (const worker of this.started.values()) bury(worker, clock);
	}
}
