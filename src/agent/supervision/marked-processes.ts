import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import {
	isLiving,
	type ProcessEntry,
	readProcess,
} from "../../process-stat.js";

/** The text in the environment of every worker whose channel lies below this directory, and of all that it starts. */
export function channelMark(channelRoot: string): string {
	return `ELASTIC_RUN_CHANNEL=${channelRoot}/`;
}

export interface Marked {
	readonly found: readonly ProcessEntry[];
	/** Some processes could not be asked at this moment. */
	readonly isUndecided: boolean;
}

/**
 * The living processes that bear a mark in the environment that they were started with, and
 * are not older than this process. None where there is no /proc, or one of other pids.
 */
export function findMarked(mark: string): Marked {
	const candidates = youngProcesses();
	const [sleeping, stuck] = [
		candidates.filter(({ state }) => state !== STUCK),
		candidates.filter(({ state }) => state === STUCK),
	];
	return {
		found: sleeping.filter(({ pid }) => environmentOf(pid).includes(mark)),
		isUndecided: stuck.length > 0,
	};
}

/** Waits for a disk or a device. To read its memory may take as long as that does. */
const STUCK = "D";

function youngProcesses(): readonly ProcessEntry[] {
	const own = isProcOurs() ? readProcess(process.pid) : undefined;
	if (own === undefined) return [];
	return readdirSync("/proc").flatMap((name) => {
		const entry = /^\d+$/.test(name) ? readProcess(Number(name)) : undefined;
		return entry !== undefined &&
			entry.startTime >= own.startTime &&
			isLiving(entry)
			? [entry]
			: [];
	});
}

/** A container may show the pids of its host there, which mean others here. */
function isProcOurs(): boolean {
	try {
		return readlinkSync("/proc/self") === String(process.pid);
	} catch {
		return false;
	}
}

function environmentOf(pid: number): Buffer {
	try {
		return readFileSync(`/proc/${pid}/environ`);
	} catch {
		// It ended meanwhile, or belongs to somebody else.
		return Buffer.alloc(0);
	}
}
