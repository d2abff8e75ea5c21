import { readlinkSync } from "node:fs";
import { attempt, textAt } from "./attempt.js";

/** What /proc says about one process. Linux only. */
export interface ProcessEntry {
	readonly pid: number;
	/** The kernel's letter: R runs, S sleeps, D cannot be interrupted, T is stopped, Z is a zombie, … */
	readonly state: string;
	readonly parentId: number;
	readonly groupId: number;
	/** The id of its session: that of its leader, who opened it with setsid. */
	readonly sessionId: number;
	/** How many of its threads are left, its main thread included. */
	readonly threads: number;
	/** Clock ticks from boot to its start. Together with the pid it names one process of one boot. */
	readonly startTime: number;
}

/** Parses the text of /proc/PID/stat; undefined if it has another format. */
export function parseProcessStat(text: string): ProcessEntry | undefined {
	// The command's name stands in parentheses and may itself hold blanks and parentheses.
	const nameEnd = text.lastIndexOf(") ");
	if (nameEnd === -1) return undefined;
	const fields = text.slice(nameEnd + 2).split(" ");
	const entry = {
		pid: Number.parseInt(text, 10),
		state: fields[0] ?? "",
		parentId: Number(fields[1]),
		groupId: Number(fields[2]),
		sessionId: Number(fields[3]),
		threads: Number(fields[17]),
		startTime: Number(fields[19]),
	};
	const { state, ...numbers } = entry;
	return Object.values(numbers).every(Number.isSafeInteger) ? entry : undefined;
}

/** False for a zombie: it has ended and waits for its parent to reap it. */
export function isLiving(entry: ProcessEntry): boolean {
	// If the main thread ended before the others, the process looks like a zombie but goes on.
	return !/[ZXx]/.test(entry.state) || entry.threads > 1;
}

/** The process with this pid, zombies included; undefined if there is none, or no usable /proc. */
export function readProcess(pid: number): ProcessEntry | undefined {
	if (!isProcOurs()) return undefined;
	const text = textAt(`/proc/${pid}/stat`);
	return text === undefined ? undefined : parseProcessStat(text);
}

let isOurs: boolean | undefined;

/**
 * Whether /proc shows the pids of this process's namespace. A container may mount its host's /proc, where the pids mean
 * others.
 */
export function isProcOurs(): boolean {
	isOurs ??= pointsToUs("/proc/self");
	return isOurs;
}

function pointsToUs(link: string): boolean {
	return attempt(() => readlinkSync(link) === String(process.pid)) ?? false;
}

/** Whether a process has a handler for this signal, by its mask in /proc: without one the signal ends it. */
export function catches(pid: number, signal: number): boolean {
	const status = textAt(`/proc/${pid}/status`) ?? "";
	const mask = /^SigCgt:\s*([\da-f]+)$/m.exec(status)?.[1];
	if (mask === undefined) return false;
	return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}
