import { readdirSync } from "node:fs";
import { textAt } from "../base/attempt.js";
import { pause } from "../base/back-off.js";
import type { Clock } from "../base/clock.js";
import { isProcOurs, parseProcessStat } from "../base/process-stat.js";
import type { Activity } from "../model/index.js";

/** What the kernel says of a worker's processes. */
export interface KernelView {
	readonly activity: Activity;
	readonly waitChannel: string | undefined;
	readonly threads: number | undefined;
}

/** How far apart the two looks are, in milliseconds. */
const BETWEEN_MS = 200;
/** A tenth of one core: less is a heartbeat or a timer. A tick is a hundredth of a second on every Linux. */
const BUSY_TICKS = 2;
/** Less is read or written by a program that only waits. */
const BUSY_BYTES = 4_096;

/** One process of a worker's group, as /proc has it. */
interface ProcessLook {
	readonly state: string;
	readonly threads: number;
	readonly ticks: number;
	readonly bytes: number;
}

/**
 * Looks twice at the process groups of these leaders. `main` is the process whose state counts, if it is not the leader:
 * a shell may have started the training. The second look comes earlier if time is short.
 * @param until by when it must come, on the clock
 */
export async function readActivity(
	workers: readonly { readonly pid: number; readonly main: number }[],
	clock: Clock,
	until = Number.POSITIVE_INFINITY,
): Promise<readonly KernelView[]> {
	if (!isProcOurs()) return workers.map(() => UNKNOWN);
	const leaders = new Set(workers.map(({ pid }) => pid));
	const first = lookAt(leaders);
	await pause(clock, Math.min(BETWEEN_MS, Math.max(0, until - clock.now())));
	const second = lookAt(leaders);
	return workers.map(({ pid, main }) => {
		const before = first.get(pid);
		const after = second.get(pid);
		const then = before?.get(main) ?? before?.get(pid);
		const now = after?.get(main) ?? after?.get(pid);
		if (now === undefined) return { ...UNKNOWN, activity: "gone" };
		return {
			activity: activityOf(then, now, grownBy(before, after)),
			waitChannel: waitChannelOf(after?.has(main) ? main : pid),
			threads: now.threads,
		};
	});
}

const UNKNOWN: KernelView = {
	activity: "idle",
	waitChannel: undefined,
	threads: undefined,
};

type Group = ReadonlyMap<number, ProcessLook>;

function activityOf(
	then: ProcessLook | undefined,
	now: ProcessLook,
	grown: { readonly ticks: number; readonly bytes: number },
): Activity {
	if (/[Tt]/.test(now.state)) return "stopped";
	if (grown.ticks >= BUSY_TICKS || grown.bytes >= BUSY_BYTES) return "busy";
	// It would compute, if others let it.
	if (now.state === "R" && then?.state === "R") return "busy";
	// Somebody who writes a checkpoint to a slow disk is in state D most of the time, and gets on.
	return now.state === "D" && then?.state === "D" ? "blocked" : "idle";
}

/** By how much all processes of a group have grown; processes that came or went in between count for nothing. */
function grownBy(
	before: Group | undefined,
	after: Group | undefined,
): { readonly ticks: number; readonly bytes: number } {
	let ticks = 0;
	let bytes = 0;
	for (const [pid, now] of after ?? []) {
		const then = before?.get(pid);
		if (then === undefined) continue;
		ticks += now.ticks - then.ticks;
		bytes += now.bytes - then.bytes;
	}
	return { ticks, bytes };
}

/** The processes of these groups, by leader and pid. */
function lookAt(leaders: ReadonlySet<number>): ReadonlyMap<number, Group> {
	const groups = new Map<number, Map<number, ProcessLook>>();
	for (const name of readdirSync("/proc")) {
		if (!/^\d+$/.test(name)) continue;
		const stat = textAt(`/proc/${name}/stat`);
		const entry = stat === undefined ? undefined : parseProcessStat(stat);
		if (stat === undefined || entry === undefined) continue;
		const { groupId, pid, state, threads } = entry;
		if (!leaders.has(groupId)) continue;
		const group = groups.get(groupId) ?? new Map<number, ProcessLook>();
		group.set(pid, {
			state,
			threads,
			ticks: ticksOf(stat),
			bytes: bytesOf(pid),
		});
		groups.set(groupId, group);
	}
	return groups;
}

/** User and system time of a process and all its threads. */
function ticksOf(stat: string): number {
	const fields = stat.slice(stat.lastIndexOf(") ") + 2).split(" ");
	return Number(fields[11]) + Number(fields[12]) || 0;
}

/** Read and written by system calls, and brought in from a disk for mapped files. */
function bytesOf(pid: number): number {
	const io = textAt(`/proc/${pid}/io`) ?? "";
	const counts = io.matchAll(/^(?:rchar|wchar|read_bytes): (\d+)$/gm);
	return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

function waitChannelOf(pid: number): string | undefined {
	const channel = textAt(`/proc/${pid}/wchan`)?.trim();
	return channel === "0" || channel === "" ? undefined : channel;
}
