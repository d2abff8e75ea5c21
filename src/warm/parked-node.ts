import type { ChildProcess, StdioOptions } from "node:child_process";
import { type BigIntStats, fstatSync, statSync } from "node:fs";
import { basename } from "node:path";
import type { Duplex } from "node:stream";
import { messageOf, systemErrorCode } from "../base/errors.js";
import { PARKED_BY, PARKING_DESCRIPTOR } from "../channel/index.js";
import { signalProcess, type WorkerSpec } from "../processes/index.js";
import type {
	Ahead,
	AheadOptions,
	ColdReason,
	ExitListener,
	NextFacts,
	PreparedWorker,
	StartFacts,
} from "./ahead.js";
import { availableMemory, parkingShortage } from "./machine.js";
import { differenceOf, OTHER_DIRECTORY, withoutPlace } from "./same-worker.js";
import { conditionOf, spawnWaiting } from "./waiting-process.js";
import { QUICK_MS } from "./warm-or-cold.js";

/**
 * When a worker's successor is started, in milliseconds after the worker's start: once the round runs, one rank after
 * another, because each takes a processor for a moment.
 */
const PARK_AFTER_MS = 1_000;
const PARK_PER_RANK_MS = 100;
const NO_SETPRIV: ColdReason = {
	kind: "machine",
	reason: "warm starts need Linux, and setpriv of util-linux 2.33 or later",
};

/** For Node: starts a process for each local rank, which waits before the script. */
export class ParkedNode implements Ahead {
	readonly done = "its process was started ahead";
	readonly earlyMs = QUICK_MS;
	onChange: () => void = () => {};
	private readonly parked = new Map<number, ParkedProcess>();
	private readonly pending = new Map<number, () => void>();
	private shortage: string | undefined;
	private started: WorkerSpec | undefined;

	constructor(private readonly options: AheadOptions) {}

	factsOf(spec: WorkerSpec): StartFacts {
		const waiting = this.parked.get(spec.localRank);
		return {
			problem: this.problemOf(spec) ?? waiting?.problem,
			difference: waiting?.differenceFrom(spec),
			waiting: waiting === undefined ? 0 : 1,
		};
	}

	/** A round needs a process for each worker. */
	get next(): NextFacts {
		const parked = [...this.parked.values()];
		const problems = parked.flatMap(({ problem }) => problem ?? []);
		const ready = parked.length - problems.length;
		const isEnough = ready >= this.options.workers;
		const known = this.started && this.problemOf(this.started);
		const problem = known ?? (isEnough ? undefined : problems[0]);
		return {
			problem,
			waiting: isEnough ? ready : 0,
			isImporting: false,
			shown: problem === undefined && isEnough ? { waiting: ready } : {},
		};
	}

	take(spec: WorkerSpec): PreparedWorker | undefined {
		const waiting = this.parked.get(spec.localRank);
		this.parked.delete(spec.localRank);
		waiting?.start(spec);
		return waiting;
	}

	startsCold({ localRank }: WorkerSpec): void {
		this.parked.get(localRank)?.close();
		this.parked.delete(localRank);
	}

	prepareNext(spec: WorkerSpec): void {
		const { clock } = this.options;
		const { localRank } = spec;
		this.started = spec;
		this.pending.get(localRank)?.();
		if (this.problemOf(spec) !== undefined && this.shortage === undefined)
			return;
		const at = clock.now() + PARK_AFTER_MS + PARK_PER_RANK_MS * localRank;
		const cancel = clock.wakeAt(at, () => this.park(spec));
		this.pending.set(localRank, cancel);
	}

	isOwn(pid: number): boolean {
		return [...this.parked.values()].some((one) => one.pid === pid);
	}

	close(): void {
		for (const cancel of this.pending.values()) cancel();
		for (const waiting of this.parked.values()) waiting.close();
		this.parked.clear();
	}

	private problemOf({ args, env }: WorkerSpec): ColdReason | undefined {
		const { setpriv, hook } = this.options;
		if (setpriv === undefined) return NO_SETPRIV;
		const reason = parkingProblem(args, hook, env.NODE_OPTIONS);
		if (reason !== undefined) return { kind: "command", reason };
		const { shortage } = this;
		return shortage === undefined
			? undefined
			: { kind: "memory", reason: shortage };
	}

	private park(spec: WorkerSpec): void {
		const { setpriv, workers, log, hook } = this.options;
		const missing = workers - this.parked.size;
		this.shortage = parkingShortage(missing, availableMemory());
		const streams = this.shortage === undefined ? spec.openNext?.() : undefined;
		if (streams === undefined || setpriv === undefined) return;
		try {
			const waiting = new ParkedProcess(spec, streams, hook, setpriv);
			this.parked.set(spec.localRank, waiting);
		} catch (error) {
			log.debug(`no process was started ahead: ${messageOf(error)}`);
		} finally {
			this.onChange();
			streams.close();
		}
	}
}

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
		const { condition } = this;
		if (condition === "alive") return undefined;
		const what = condition === "gone" ? "has ended" : "was stopped by a signal";
		return { kind: "ended", reason: `${PROCESS} ${what}` };
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
		if (this.condition !== "gone") signalProcess(this.pid, "SIGKILL");
	}

	private get condition() {
		return this.hasEnded ? "gone" : conditionOf(this.pid);
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

/** Options of Node that act while it starts on what the script may read or change, or begin to record at once, are not among these. */
const HARMLESS_OPTIONS = new Set(
	`--max-old-space-size --max-semi-space-size --max-heap-size --stack-size --stack-trace-limit --expose-gc
	--enable-source-maps --unhandled-rejections --conditions -C --no-warnings --no-deprecation --disable-warning
	--trace-warnings --trace-deprecation --trace-uncaught --throw-deprecation --pending-deprecation
	--experimental-vm-modules --preserve-symlinks --preserve-symlinks-main --experimental-strip-types
	--experimental-transform-types --dns-result-order --max-http-header-size --use-system-ca --use-openssl-ca
	--use-bundled-ca`.split(/\s+/),
);

/** Whether this command runs a script under Node with the launcher's hook, or Node itself. */
export function isForNode(
	{ file, args }: { readonly file: string; readonly args: readonly string[] },
	hook: string,
): boolean {
	return hookIndex(args, hook) !== -1 || /^node(js)?$/.test(basename(file));
}

/** In words, why a process for this command cannot wait before its script; undefined if it can. */
export function parkingProblem(
	args: readonly string[],
	hook: string,
	nodeOptions: string | undefined,
): string | undefined {
	if (hookIndex(args, hook) === -1) {
		return "the command starts Node itself: give elastic-run the script";
	}
	const option = (nodeOptions ?? "")
		.split(/\s+/)
		.map((word) => word.replaceAll('"', ""))
		.filter((word) => word.startsWith("-"))
		.find((word) => !HARMLESS_OPTIONS.has(nameOf(word)));
	return option === undefined
		? undefined
		: `NODE_OPTIONS has ${nameOf(option)}`;
}

/** V8 takes underscores as well. */
function nameOf(option: string): string {
	return option.split("=", 1).join("").replaceAll("_", "-");
}

/** Where the hook stands if Node loads it before all else: it runs what `--require` names before what `--import` names. */
function hookIndex(args: readonly string[], hook: string): number {
	const index = args.indexOf(hook);
	const before = args.slice(0, Math.max(0, index));
	const isFirst = before.every((word, at) =>
		at % 2 === 0
			? word === (at === index - 1 ? "--require" : "--import")
			: !word.startsWith("-"),
	);
	return index % 2 === 1 && isFirst ? index : -1;
}
