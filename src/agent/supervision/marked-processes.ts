import { readdirSync, readFileSync, statSync } from "node:fs";
import {
	isLiving,
	isProcOurs,
	type ProcessEntry,
	readProcess,
} from "../../process-stat.js";

/**
 * The text in the environment of every worker of one agent process, and of all that it starts.
 * Not the channel's path, which the next agent of the run has as well.
 */
export function agentMark(incarnation: string): string {
	return `ELASTIC_RUN_INCARNATION=${incarnation}`;
}

export interface Marked {
	readonly found: readonly ProcessEntry[];
	/** Some processes could not be asked at this moment. */
	readonly isUndecided: boolean;
}

/** Looks for processes by a mark in the environment that they were started with. */
export class MarkedProcesses {
	readonly #mark: string;
	/** By pid, the inode of /proc/PID: another process of that pid has another one. */
	#older: ReadonlyMap<number, number> = new Map();

	/** Looks once already: this process, and who is older, need not be asked again. */
	constructor(mark: string) {
		this.#mark = mark;
		this.#youngProcesses();
	}

	/**
	 * Those others that live, bear the mark, and are not older than this process. None where
	 * there is no /proc, or one of other pids.
	 */
	find(): Marked {
		const candidates = this.#youngProcesses();
		const [sleeping, stuck] = [
			candidates.filter(({ state }) => state !== STUCK),
			candidates.filter(({ state }) => state === STUCK),
		];
		return {
			found: sleeping.filter(({ pid }) =>
				environmentOf(pid).includes(this.#mark),
			),
			isUndecided: stuck.length > 0,
		};
	}

	#youngProcesses(): readonly ProcessEntry[] {
		const own = isProcOurs() ? readProcess(process.pid) : undefined;
		if (own === undefined) return [];
		const older = new Map<number, number>();
		const young: ProcessEntry[] = [];
		for (const pid of pidsOfAll()) {
			// To ask for the inode costs a third of reading what the process is.
			const inode = inodeOf(pid);
			if (inode === undefined) continue;
			if (this.#older.get(pid) === inode) {
				older.set(pid, inode);
				continue;
			}
			const entry = readProcess(pid);
			if (entry === undefined) continue;
			if (pid === own.pid || entry.startTime < own.startTime)
				older.set(pid, inode);
			else if (isLiving(entry)) young.push(entry);
		}
		this.#older = older;
		return young;
	}
}

/** Waits for a disk or a device. To read its memory may take as long as that does. */
const STUCK = "D";

function pidsOfAll(): readonly number[] {
	return readdirSync("/proc")
		.map(Number)
		.filter((pid) => Number.isInteger(pid));
}

/** Undefined where the process has ended. */
function inodeOf(pid: number): number | undefined {
	try {
		return statSync(`/proc/${pid}`).ino;
	} catch {
		return undefined;
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
