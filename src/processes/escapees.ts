import { readdirSync, readFileSync, statSync } from "node:fs";
import { attempt } from "../base/attempt.js";
import type { Clock } from "../base/clock.js";
import {
	isLiving,
	isProcOurs,
	type ProcessEntry,
	readProcess,
} from "../base/process-stat.js";

/** From SIGTERM to SIGKILL: the same grace as the guard gives. */
const GRACE_MS = 1_000;
const LOOK_EVERY_MS = 50;
/** How long to wait for processes whose environment cannot be read now. A process that is writing to a disk can be read soon. */
const UNDECIDED_MS = 500;
/** A process that survives SIGKILL this long is stuck in the kernel. */
const GIVEN_UP_AFTER_MS = 5_000;
/** How many of them one line names. */
const MOST_NAMED = 20;

export interface EscapeesOptions {
	readonly clock: Clock;
	/** Part of every worker's environment: see `agentMark`. */
	readonly mark: string;
	/** Receives a message about the processes that were found, and those that do not end. */
	readonly warn: (message: string) => void;
	/** Whether the launcher itself needs this process. */
	readonly isNeeded?: (pid: number) => boolean;
}

/** Processes that left their worker's process group by setsid, as daemons do, and outlived it. */
export interface Escapees {
	/**
	 * Ends all present ones: SIGTERM, a second later SIGKILL. Call it only while no worker runs. Calls back once none is
	 * left or they are given up; at once if there are none.
	 */
	end(onEnded: () => void): void;
	/** Skips the rest of the grace period; no effect while none are being ended. */
	kill(): void;
}

/** Escapees hold what the next round needs (a device, a port), and their end is not notified. */
export function watchEscapees(options: EscapeesOptions): Escapees {
	const marked = new MarkedProcesses(options.mark);
	const whose = "that left their worker's process group";
	let current: Ending | undefined;
	return {
		end(onEnded) {
			const find = () => withoutNeeded(marked.find(), options.isNeeded);
			current = new Ending({ ...options, whose, find }, () => {
				current = undefined;
				onEnded();
			});
			current.look();
		},
		kill: () => current?.kill(),
	};
}

function withoutNeeded(
	{ found, isUndecided }: Marked,
	isNeeded: (pid: number) => boolean = () => false,
): Marked {
	return { isUndecided, found: found.filter(({ pid }) => !isNeeded(pid)) };
}

/** Ends all processes that a search finds, as `Escapees` does. Resolves once none is left or they are given up. */
export function endFound(options: EndingOptions): Promise<void> {
	return new Promise((resolve) => new Ending(options, resolve).look());
}

interface EndingOptions extends Pick<EscapeesOptions, "clock" | "warn"> {
	readonly find: () => Marked;
	/** Describes these processes: "processes <whose> live on". */
	readonly whose: string;
}

class Ending {
	private readonly options: EndingOptions;
	private readonly onEnded: () => void;
	private readonly decidedBy: number;
	private left: readonly ProcessEntry[] = [];
	/** When the grace period ends; set when the first process is found. */
	private killAt = Number.POSITIVE_INFINITY;
	private givenUpAt = Number.POSITIVE_INFINITY;
	private cancelLook: () => void = () => {};

	constructor(options: EndingOptions, onEnded: () => void) {
		this.options = options;
		this.onEnded = onEnded;
		this.decidedBy = options.clock.now() + UNDECIDED_MS;
	}

	kill(): void {
		this.killAt = this.options.clock.now();
		this.cancelLook();
		this.look();
	}

	look(): void {
		const now = this.options.clock.now();
		this.left = this.left.filter(lives);
		// Those that ended may have started others.
		const isDone = this.left.length === 0 && !this.findMore(now);
		if (isDone) {
			this.onEnded();
		} else if (now >= this.givenUpAt) {
			this.giveUp();
		} else {
			if (now >= this.killAt) this.killAll(now);
			this.lookLater();
		}
	}

	/** Returns false if no more seem to be left. */
	private findMore(now: number): boolean {
		const { found, isUndecided } = this.options.find();
		this.left = found;
		if (found.length === 0) return isUndecided && now < this.decidedBy;
		this.options.warn(
			`processes ${this.options.whose} live on, and are ended: ${pidsOf(found)}`,
		);
		this.killAt = Math.min(this.killAt, now + GRACE_MS);
		signalAll(found, "SIGTERM");
		return true;
	}

	private lookLater(): void {
		const { clock } = this.options;
		this.cancelLook = clock.wakeAt(clock.now() + LOOK_EVERY_MS, () =>
			this.look(),
		);
	}

	private killAll(now: number): void {
		signalAll(this.left, "SIGKILL");
		this.givenUpAt = Math.min(this.givenUpAt, now + GIVEN_UP_AFTER_MS);
	}

	private giveUp(): void {
		this.options.warn(
			`not gone ${GIVEN_UP_AFTER_MS / 1000} s after SIGKILL, stuck in the kernel: processes ${this.options.whose}: ${pidsOf(this.left)}; look at what they wait for (/proc/PID/stack)`,
		);
		this.onEnded();
	}
}

function lives({ pid, startTime }: ProcessEntry): boolean {
	const entry = readProcess(pid);
	return entry?.startTime === startTime && isLiving(entry);
}

function signalAll(
	processes: readonly ProcessEntry[],
	signal: "SIGTERM" | "SIGKILL",
): void {
	for (const { pid } of processes) {
		try {
			process.kill(pid, signal);
		} catch {
			// It has ended, or belongs to another user.
		}
	}
}

function pidsOf(processes: readonly ProcessEntry[]): string {
	const named = processes.slice(0, MOST_NAMED).map(({ pid }) => `pid ${pid}`);
	const more = processes.length - named.length;
	return `${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

export interface Marked {
	readonly found: readonly ProcessEntry[];
	/** Some processes could not be read at this moment. */
	readonly isUndecided: boolean;
}

/** Finds processes by a mark in the environment with which they started. */
export class MarkedProcesses {
	private readonly mark: string;
	/** The inode of /proc/PID by pid: another process with that pid has another inode. */
	private older: ReadonlyMap<number, number> = new Map();

	/** Looks once: this process and older ones need not be examined again. */
	constructor(mark: string) {
		this.mark = mark;
		this.youngProcesses();
	}

	/**
	 * Living processes that hold the mark and are not older than this one. None if there is no /proc, or one of another pid
	 * namespace.
	 */
	find(): Marked {
		const candidates = this.youngProcesses();
		const [sleeping, stuck] = [
			candidates.filter(({ state }) => state !== STUCK),
			candidates.filter(({ state }) => state === STUCK),
		];
		return {
			found: sleeping.filter(({ pid }) =>
				environmentOf(pid).includes(this.mark),
			),
			isUndecided: stuck.length > 0,
		};
	}

	private youngProcesses(): readonly ProcessEntry[] {
		const own = isProcOurs() ? readProcess(process.pid) : undefined;
		if (own === undefined) return [];
		const older = new Map<number, number>();
		const young: ProcessEntry[] = [];
		for (const pid of pidsOfAll()) {
			// Reading the inode costs a third of reading the process's status.
			const inode = inodeOf(pid);
			if (inode === undefined) continue;
			if (this.older.get(pid) === inode) {
				older.set(pid, inode);
				continue;
			}
			const entry = readProcess(pid);
			if (entry === undefined) continue;
			if (pid === own.pid || entry.startTime < own.startTime)
				older.set(pid, inode);
			else if (isLiving(entry)) young.push(entry);
		}
		this.older = older;
		return young;
	}
}

/** Waits for a disk or a device. Reading its memory may block as long. */
export const STUCK = "D";

export function pidsOfAll(): readonly number[] {
	return readdirSync("/proc")
		.map(Number)
		.filter((pid) => Number.isInteger(pid));
}

/** Undefined if the process has ended. */
function inodeOf(pid: number): number | undefined {
	return attempt(() => statSync(`/proc/${pid}`).ino);
}

export function environmentOf(pid: number): Buffer {
	// It may have ended, or belong to another user.
	return attempt(() => readFileSync(`/proc/${pid}/environ`)) ?? Buffer.alloc(0);
}
