import { type ChildProcess, spawn } from "node:child_process";
import { type BigIntStats, fstatSync, statSync } from "node:fs";
import type { Duplex } from "node:stream";
import { systemErrorCode } from "../base/errors.js";
import { isLiving, readProcess } from "../base/process-stat.js";
import { PARKED_BY, PARKING_DESCRIPTOR } from "../channel/worker-hook.js";
import {
	killWithParent,
	signalProcess,
	type WorkerSpec,
} from "../processes/index.js";
import type { ParkingFacts } from "./parked-or-cold.js";
import { stdioPipe } from "./stdio-pipe.js";
import { differenceOf, OTHER_DIRECTORY, PLACE } from "./warm-environment.js";

type ExitListener = (
	code: number | null,
	signal: NodeJS.Signals | null,
) => void;

/** The streams that a worker will have; the descriptors are the launcher's. */
export type Streams = Pick<WorkerSpec, "stdout" | "stderr">;

/** A Node process that waits before its script, until it is told which worker it is. */
export class ParkedNode {
	/** It has taken its place. */
	isStarted = false;
	private hasEnded = false;
	private readonly child: ChildProcess;
	private readonly pipe: Duplex;
	/** What its streams and its programs were when it was started. */
	private readonly identity: string;
	/** Which directory it works in: another one may have its path by now. */
	private readonly directory: string;

	/** @param spec a worker like the one that it will be. Throws if this machine lacks what a process needs. */
	constructor(
		private readonly spec: WorkerSpec,
		streams: Streams,
		private readonly hook: string,
		setpriv: string,
	) {
		const { file, args, cwd, env, readsStdin } = spec;
		this.identity = identityOf(spec, streams, hook);
		this.directory = directoryAt(cwd);
		const stdio: ("ignore" | "pipe" | number)[] = Array.from(
			{ length: PARKING_DESCRIPTOR + 1 },
			() => "ignore",
		);
		stdio[0] = readsStdin ? 0 : "ignore";
		stdio[1] = streams.stdout;
		stdio[2] = streams.stderr;
		stdio[PARKING_DESCRIPTOR] = "pipe";
		this.child = spawn(setpriv, killWithParent(file, args), {
			cwd,
			env: parkedEnvironment(env),
			detached: true,
			stdio,
		});
		this.child.once("exit", () => {
			this.hasEnded = true;
		});
		this.child.once("error", () => {
			this.hasEnded = true;
		});
		this.child.unref();
		this.pipe = stdioPipe(this.child, PARKING_DESCRIPTOR);
		// If the process is gone, its exit event tells.
		this.pipe.on("error", () => {});
		this.pipe.on("data", () => {
			this.isStarted = true;
		});
		if ("unref" in this.pipe && typeof this.pipe.unref === "function") {
			this.pipe.unref();
		}
	}

	get pid(): number {
		return this.child.pid ?? 0;
	}

	get state(): Exclude<ParkingFacts["parked"], "none"> {
		const entry = this.hasEnded ? undefined : readProcess(this.pid);
		if (entry?.parentId !== process.pid || !isLiving(entry)) return "ended";
		return entry.state === "T" ? "stopped" : "ready";
	}

	/** In words, why it is not the worker that this start asks for; undefined if it is. */
	differenceFrom(spec: WorkerSpec): string | undefined {
		const difference = differenceOf(this.spec, spec);
		if (difference !== undefined) return difference;
		if (this.directory !== directoryAt(spec.cwd)) return OTHER_DIRECTORY;
		const isSame = this.identity === identityOf(spec, spec, this.hook);
		return isSame ? undefined : "its log files, Node or the hook have changed";
	}

	/** Makes it the worker. */
	start({ env }: WorkerSpec): void {
		this.child.ref();
		this.pipe.write(`${JSON.stringify(env)}\n`);
	}

	/** Calls back when it has ended, and all that it has said is known. */
	once(_event: "exit", listener: ExitListener): this {
		this.child.once("close", listener);
		return this;
	}

	close(): void {
		if (this.state !== "ended") signalProcess(this.pid, "SIGKILL");
	}
}

function parkedEnvironment(env: WorkerSpec["env"]): Record<string, string> {
	const kept = Object.entries(env).filter(([name]) => !PLACE.has(name));
	return { ...Object.fromEntries(kept), [PARKED_BY]: String(process.pid) };
}

/** Which files these are, not where: a log directory may have got another name, and a program's name another file. */
function identityOf(spec: WorkerSpec, streams: Streams, hook: string): string {
	return [
		...[streams.stdout, streams.stderr].map((descriptor) => {
			const { dev, ino } = fstatSync(descriptor, { bigint: true });
			return `${dev}:${ino}`;
		}),
		...[spec.file, hook].map(stampOf),
		spec.readsStdin === true,
	].join(" ");
}

function stampOf(path: string): string {
	return found(
		path,
		({ dev, ino, size, mtimeNs }) => `${dev}:${ino}:${size}:${mtimeNs}`,
	);
}

function directoryAt(path: string): string {
	return found(path, ({ dev, ino }) => `${dev}:${ino}`);
}

function found(path: string, words: (stats: BigIntStats) => string): string {
	try {
		return words(statSync(path, { bigint: true }));
	} catch (error) {
		return systemErrorCode(error) ?? "unknown";
	}
}
