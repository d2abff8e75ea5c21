import type { ChildProcess, StdioOptions } from "node:child_process";
import { type BigIntStats, fstatSync, statSync } from "node:fs";
import type { Duplex } from "node:stream";
import { systemErrorCode } from "../base/errors.js";
import { isLiving, readProcess } from "../base/process-stat.js";
import { PARKED_BY, PARKING_DESCRIPTOR } from "../channel/worker-hook.js";
import { signalProcess, type WorkerSpec } from "../processes/index.js";
import type { ColdReason, ExitListener, PreparedWorker } from "./ahead.js";
import { differenceOf, OTHER_DIRECTORY, withoutPlace } from "./same-worker.js";
import { spawnWaiting } from "./waiting-process.js";

const PROCESS = "the process that was started ahead";

/** The streams that a worker will have; the descriptors are the launcher's. */
type Streams = Pick<WorkerSpec, "stdout" | "stderr">;

/** A Node process that waits before its script, until it is told which worker it is. */
export class ParkedProcess implements PreparedWorker {
	readonly parentId = process.pid;
	/** It has taken its place. */
	private isStarted = false;
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
		const { cwd, env, readsStdin } = spec;
		this.identity = identityOf(spec, streams, hook);
		this.directory = directoryAt(cwd);
		const stdio: Exclude<StdioOptions, string> = [
			readsStdin ? 0 : "ignore",
			streams.stdout,
			streams.stderr,
		];
		while (stdio.length < PARKING_DESCRIPTOR) stdio.push("ignore");
		stdio.push("pipe");
		const own = { ...withoutPlace(env), [PARKED_BY]: String(process.pid) };
		const { child, pipe } = spawnWaiting(
			{ ...spec, env: own },
			setpriv,
			stdio,
			PARKING_DESCRIPTOR,
		);
		this.child = child;
		this.pipe = pipe;
		for (const event of ["exit", "error"]) {
			child.once(event, () => {
				this.hasEnded = true;
			});
		}
		pipe.on("data", () => {
			this.isStarted = true;
		});
	}

	get pid(): number {
		return this.child.pid ?? 0;
	}

	/** Why it cannot become a worker; undefined if it can. */
	get problem(): ColdReason | undefined {
		if (!this.isLiving) {
			return { kind: "ended", reason: `${PROCESS} has ended` };
		}
		return readProcess(this.pid)?.state === "T"
			? { kind: "ended", reason: `${PROCESS} was stopped by a signal` }
			: undefined;
	}

	get failure(): string | undefined {
		return this.isStarted ? undefined : `${PROCESS} has ended`;
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
		if (this.isLiving) signalProcess(this.pid, "SIGKILL");
	}

	private get isLiving(): boolean {
		const entry = this.hasEnded ? undefined : readProcess(this.pid);
		return entry?.parentId === process.pid && isLiving(entry);
	}
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
