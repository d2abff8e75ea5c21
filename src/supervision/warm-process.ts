import { constants } from "node:os";
import type { Clock } from "../base/clock.js";
import { isLiving, readProcess } from "../base/process-stat.js";
import { signalGroup } from "./process-group.js";

type ExitListener = (
	code: number | null,
	signal: NodeJS.Signals | null,
) => void;

/** A process that a helper has forked: parked until it is told which worker it is. */
export class WarmProcess {
	private exitListener: ExitListener = () => {};
	private hasEnded = false;
	/** It has become the worker. */
	isStarted = false;
	/** Why it could not; undefined if it could, or that is not known yet. */
	refusal: string | undefined;

	constructor(
		readonly pid: number,
		/** The helper's pid. */
		readonly parentId: number,
	) {}

	/** Too late for one that was given up, and is being ended. */
	begun(): void {
		if (this.refusal === undefined) this.isStarted = true;
	}

	/** The first reason counts. */
	refused(reason: string): void {
		this.refusal ??= reason;
	}

	/** It can become a worker now. */
	get isWaiting(): boolean {
		const entry = readProcess(this.pid);
		if (entry?.parentId !== this.parentId) return false;
		return isLiving(entry) && entry.state !== "T";
	}

	once(_event: "exit", listener: ExitListener): this {
		this.exitListener = listener;
		return this;
	}

	/** @param status that of wait(2) */
	ended(status: number): void {
		if (this.hasEnded) return;
		this.hasEnded = true;
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

/** Ends a worker whose helper is gone, and tells its end once it has no process any more. */
export function bury(worker: WarmProcess, clock: Clock): void {
	signalGroup(worker.pid, "SIGKILL");
	const entry = readProcess(worker.pid);
	if (entry === undefined || !isLiving(entry)) {
		worker.ended(constants.signals.SIGKILL);
	} else {
		clock.wakeAt(clock.now() + LOOK_EVERY_MS, () => bury(worker, clock));
	}
}
