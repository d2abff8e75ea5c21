import { readFileSync, readlinkSync } from "node:fs";

/** What the kernel says of one process: from /proc on Linux, nowhere else. */
export interface ProcessEntry {
	readonly pid: number;
	/** The kernel's letter: R runs, S sleeps, D cannot be interrupted, T is stopped, Z is a zombie, … */
	readonly state: string;
	readonly parentId: number;
	/** The id of its process group. */
	readonly groupId: number;
	/** Threads that are left of it, its main thread among them. */
	readonly threads: number;
	/** Clock ticks from boot to its start. With the pid it names one process of one boot. */
	readonly startTime: number;
}

/** Reads the text of /proc/PID/stat; undefined where it is not one. */
export function parseProcessStat(text: string): ProcessEntry | undefined {
	// The command's name is in parentheses and may itself hold blanks and parentheses.
	const nameEnd = text.lastIndexOf(") ");
	if (nameEnd === -1) return undefined;
	const fields = text.slice(nameEnd + 2).split(" ");
	const entry = {
		pid: Number.parseInt(text, 10),
		state: fields[0] ?? "",
		parentId: Number(fields[1]),
		groupId: Number(fields[2]),
		threads: Number(fields[17]),
		startTime: Number(fields[19]),
	};
	const { pid, parentId, groupId, threads, startTime } = entry;
	return [pid, parentId, groupId, threads, startTime].every(
		Number.isSafeInteger,
	)
		? entry
		: undefined;
}

/** False for a zombie: it has ended, and only waits for its parent to ask how. */
export function isLiving(entry: ProcessEntry): boolean {
	// A main thread that ended before the others looks like a zombie, but its process goes on.
	return !/[ZXx]/.test(entry.state) || entry.threads > 1;
}

/** The process of this pid, a zombie too; undefined where there is none, or no /proc. */
export function readProcess(pid: number): ProcessEntry | undefined {
	const text = readOrUndefined(`/proc/${pid}/stat`);
	return text === undefined ? undefined : parseProcessStat(text);
}

let isOurs: boolean | undefined;

/** Whether there is a /proc of our pids: a container may show those of its host there, which mean others here. */
export function isProcOurs(): boolean {
	isOurs ??= pointsToUs("/proc/self");
	return isOurs;
}

function pointsToUs(link: string): boolean {
	try {
		return readlinkSync(link) === String(process.pid);
	} catch {
		return false;
	}
}

function readOrUndefined(path: string): string | undefined {
	try {
		return readFileSync(path, "utf8");
	} catch {
		// The process ended meanwhile, or this system has no /proc.
		return undefined;
	}
}
