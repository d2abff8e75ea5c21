import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as after } from "node:timers/promises";

/** What the kubelet waits before a container's second restart, and at most, in milliseconds. */
const BACK_OFF_MS = 10_000;
const LONGEST_BACK_OFF_MS = 300_000;
/** terminationGracePeriodSeconds, in milliseconds of real time. */
const GRACE_MS = 20_000;
/** How often it asks a start-up probe, in milliseconds of real time. */
const PROBE_EVERY_MS = 20;

/** A container as far as its restarts go: one process of this machine. */
export interface ContainerSpec {
	readonly name: string;
	readonly command: readonly [string, ...string[]];
	readonly env: Readonly<Record<string, string>>;
	/** The exit codes whose rule is RestartAllContainers. */
	readonly restartAllOn: readonly number[];
	/** The containers after it start when this answers with 200. */
	readonly startupProbe?: { readonly port: number; readonly path: string };
}

interface PodSpec {
	/** Init containers with `restartPolicy: Always`. */
	readonly sidecar: ContainerSpec;
	/** Its `restartPolicy` is `Never`. */
	readonly main: ContainerSpec;
	readonly cwd: string;
	/** The kubelet's waits take so much of their real time. */
	readonly timeFactor: number;
	/** Where its containers write; default: where this process does. */
	readonly output?: "ignore";
}

/** The wait before the nth restart of a container, in milliseconds: none before the first. */
export function backOffMs(restart: number): number {
	if (restart <= 1) return 0;
	return Math.min(LONGEST_BACK_OFF_MS, BACK_OFF_MS * 2 ** (restart - 2));
}

interface Running {
	readonly child: ChildProcess;
	readonly exited: Promise<number>;
}

/** Does with a pod of one sidecar and one other container what the kubelet does, without a cluster. */
export class Pod {
	/** What happened, in order. */
	readonly events: string[] = [];
	/** Resolves with the exit code of the main container, once the pod is over. */
	readonly ended: Promise<number>;
	private readonly running = new Set<Running>();
	private readonly restarts = new Map<string, number>();
	private isClosed = false;

	constructor(private readonly spec: PodSpec) {
		this.ended = this.live();
	}

	/** Kills what is left of it. */
	async close(): Promise<void> {
		this.isClosed = true;
		await this.killAll("SIGKILL");
	}

	private async live(): Promise<number> {
		while (!this.isClosed) {
			const code = await this.liveOnce();
			if (code !== "restart-all") return code;
			this.events.push("restart all containers");
			await this.backOff("pod");
		}
		return -1;
	}

	/** Until a rule restarts all containers, or the main container's end is the pod's. */
	private async liveOnce(): Promise<number | "restart-all"> {
		const { main } = this.spec;
		const over = new AbortController();
		const beside = this.keepSidecar(over.signal);
		try {
			const first = await Promise.race([beside, this.probe(over.signal)]);
			if (first === "restart-all") return first;
			const running = this.start(main);
			const end = await Promise.race([beside, running.exited]);
			if (end === "restart-all") return end;
			this.events.push(`${main.name} exited with ${end}`);
			return main.restartAllOn.includes(end) ? "restart-all" : end;
		} finally {
			over.abort();
			await this.killAll("SIGTERM");
		}
	}

	/** Starts the sidecar again, whatever it exits with, unless a rule says more. */
	private async keepSidecar(over: AbortSignal): Promise<"restart-all"> {
		const { sidecar } = this.spec;
		while (!over.aborted) {
			const code = await this.start(sidecar).exited;
			if (over.aborted) break;
			this.events.push(`${sidecar.name} exited with ${code}`);
			if (sidecar.restartAllOn.includes(code)) return "restart-all";
			await this.backOff(sidecar.name);
		}
		return new Promise(() => {});
	}

	private async probe(over: AbortSignal): Promise<void> {
		const { startupProbe } = this.spec.sidecar;
		if (startupProbe === undefined) return;
		const { port, path } = startupProbe;
		while (!over.aborted) {
			const answer = await fetch(`http://127.0.0.1:${port}${path}`).catch(
				() => undefined,
			);
			if (answer?.status === 200) return;
			await after(PROBE_EVERY_MS);
		}
	}

	private start({ name, command, env }: ContainerSpec): Running {
		this.events.push(`${name} started`);
		const [file, ...args] = command;
		const { cwd, output = "inherit" } = this.spec;
		const child = spawn(file, args, {
			...{ cwd, env, detached: true },
			stdio: ["ignore", output, output],
		});
		const exited = new Promise<number>((resolve) => {
			child.on("exit", (code) => {
				this.running.delete(running);
				resolve(code ?? 137);
			});
		});
		const running = { child, exited };
		this.running.add(running);
		return running;
	}

	private async backOff(name: string): Promise<void> {
		const restart = (this.restarts.get(name) ?? 0) + 1;
		this.restarts.set(name, restart);
		await after(backOffMs(restart) * this.spec.timeFactor);
	}

	/** A container's processes go with it. */
	private async killAll(signal: NodeJS.Signals): Promise<void> {
		const running = [...this.running];
		for (const { child } of running) killGroup(child, signal);
		const all = Promise.all(running.map(({ exited }) => exited));
		await Promise.race([all, after(GRACE_MS)]);
		for (const { child } of running) killGroup(child, "SIGKILL");
		await all;
	}
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
	if (pid === undefined) return;
	try {
		process.kill(-pid, signal);
	} catch {
		// Nothing of it is left.
	}
}
