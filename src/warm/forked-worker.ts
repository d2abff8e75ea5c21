import { fstatSync, readFileSync, readlinkSync } from "node:fs";
import { constants } from "node:os";
import type { Clock } from "../base/clock.js";
import { isLiving, readProcess } from "../base/process-stat.js";
import { wakeAfterRunning } from "../base/wake-after-running.js";
import {
	signalGroup,
	signalProcess,
	type WorkerSpec,
} from "../processes/index.js";
import type { ExitListener, PreparedWorker } from "./ahead.js";
import type { WorkerStream } from "./helper-messages.js";
import { conditionOf } from "./waiting-process.js";

/** So long a parked process may take to become the worker, in milliseconds. */
const START_MS = 2_000;

/** A process that a helper has forked: parked until it is told which worker it is. */
export class ForkedWorker implements PreparedWorker {
	private exitListener: ExitListener = () => {};
	private cancelWait = () => {};
	private hasEnded = false;
	/** It has become the worker. */
	isStarted = false;
	/** Why it could not; undefined if it could, or that is not known yet. */
	refusal: string | undefined;

	constructor(
		readonly pid: number,
		/** The helper's pid. */
		readonly parentId: number,
		/** What its imports have read of its worker's place; null: not set. */
		private readonly reads: Readonly<Record<string, string | null>> = {},
	) {}

	/** A variable of which its imports have read another value than this worker's. */
	differenceFrom(env: WorkerSpec["env"]): string | undefined {
		return Object.keys(this.reads).find(
			(name) => (env[name] ?? null) !== this.reads[name],
		);
	}

	/** It was told which worker it is, unless it has ended. @param onLate called if it does not begin in time; then it is ended */
	told(clock: Clock, onLate: (reason: string) => void): void {
		if (this.hasEnded) return;
		this.cancelWait = wakeAfterRunning(clock, START_MS, () => {
			const late = `did not begin within ${START_MS / 1_000} s`;
			this.refused(`it ${late}`);
			if (conditionOf(this.pid, this.parentId) !== "gone") {
				signalProcess(this.pid, "SIGKILL");
			}
			onLate(`a worker ${late}`);
		});
	}

	/** Too late for one that was given up, and is being ended. */
	begun(): void {
		this.cancelWait();
		if (this.refusal === undefined) this.isStarted = true;
	}

	get failure(): string | undefined {
		if (this.isStarted || this.refusal === undefined) return undefined;
		return `its warm start failed: ${this.refusal}`;
	}

	/** The first reason counts. */
	refused(reason: string): void {
		this.refusal ??= reason;
	}

	/** It can become a worker now. */
	get isWaiting(): boolean {
		return conditionOf(this.pid, this.parentId) === "alive";
	}

	once(_event: "exit", listener: ExitListener): this {
		this.exitListener = listener;
		return this;
	}

	/** @param status that of wait(2) */
	ended(status: number): void {
		if (this.hasEnded) return;
		this.hasEnded = true;
		this.cancelWait();
		if (!this.isStarted) this.refused("it ended before it began");
		const { code, signal } = exitOf(status);
		this.exitListener(code, signal);
	}
}

const SIGNALS = new Map(
	Object.entries(constants.signals).map(([name, number]) => [
		number,
		name as NodeJS.Signals,
	]),
);

/** A signal without a name, as the real-time ones, becomes the exit code that a shell shows for it. */
export function exitOf(status: number): {
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
} {
	const number = status & 0x7f;
	if (number === 0) return { code: (status >> 8) & 0xff, signal: null };
	const signal = SIGNALS.get(number);
	return signal === undefined
		? { code: 128 + number, signal: null }
		: { code: null, signal };
}

const LOOK_EVERY_MS = 10;

/** Ends a worker whose helper is gone. Tells its end once it has no process any more, and what the helper said last is heard. */
export function bury(worker: ForkedWorker, clock: Clock): void {
	signalGroup(worker.pid, "SIGKILL");
	clock.wakeAt(clock.now() + LOOK_EVERY_MS, () => {
		const entry = readProcess(worker.pid);
		if (entry !== undefined && isLiving(entry)) bury(worker, clock);
		else worker.ended(constants.signals.SIGKILL);
	});
}

/** How a helper opens what this process has open as `descriptor`; undefined if it cannot. */
export function workerStream(descriptor: number): WorkerStream | undefined {
	if (descriptor === 0 || descriptor === 1 || descriptor === 2) {
		return { launchers: descriptor };
	}
	try {
		const path = readlinkSync(`/proc/self/fd/${descriptor}`);
		const { dev, ino } = fstatSync(descriptor, { bigint: true });
		const about = readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8");
		const flags = /^flags:\s+([0-7]+)$/m.exec(about)?.[1];
		if (!path.startsWith("/") || flags === undefined) return undefined;
		const identity = [String(dev), String(ino)] as const;
		return { path, flags: Number.parseInt(flags, 8), identity };
	} catch {
		return undefined;
	}
}
