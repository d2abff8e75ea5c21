import { readdirSync, readFileSync, statSync } from "node:fs";
import {
	isLiving,
	isProcOurs,
	type ProcessEntry,
	readProcess,
} from "../base/process-stat.js";

/**
 * The mark in the environment of every worker of one agent process and of their descendants. It is not the channel's
 * path, because the run's next agent has the same one.
 */
export function agentMark(incarnation: string): string {
	return `ELASTIC_RUN_INCARNATION=${incarnation}`;
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
	try {
		return statSync(`/proc/${pid}`).ino;
	} catch {
		return undefined;
	}
}

export function environmentOf(pid: number): Buffer {
	try {
		return readFileSync(`/proc/${pid}/environ`);
	} catch {
		// It has ended, or belongs to another user.
		return Buffer.alloc(0);
	}
}
