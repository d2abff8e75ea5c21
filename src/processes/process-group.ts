import { existsSync, readdirSync } from "node:fs";
import type { Clock } from "../base/clock.js";
import { systemErrorCode } from "../base/errors.js";
import {
	isLiving,
	isProcOurs,
	type ProcessEntry,
	readProcess,
} from "../base/process-stat.js";

/** `refused`: the group has processes, and all of them belong to other users. */
export type Delivery = "sent" | "refused" | "nobody";

/** Signals every process of a group; 0 only tests whether that is possible. */
export function signalGroup(
	groupId: number,
	signal: NodeJS.Signals | 0,
): Delivery {
	return signalProcess(-groupId, signal);
}

/** Signals one process, or with a negative number a group. */
export function signalProcess(
	pid: number,
	signal: NodeJS.Signals | number,
): Delivery {
	// 0 is the launcher's own group, 1 the machine's first process, -1 everybody: no worker is one of them.
	if (Math.abs(pid) <= 1) return "nobody";
	try {
		process.kill(pid, signal);
		return "sent";
	} catch (error) {
		const code = systemErrorCode(error);
		if (code !== "ESRCH" && code !== "EPERM") throw error;
		// macOS refuses to signal a group of zombies; Linux refuses only another user's.
		const isRefused = code === "EPERM" && process.platform === "linux";
		return isRefused ? "refused" : "nobody";
	}
}

/**
 * Whether a group whose leader was reaped may still have processes, zombies included. The kernel reuses no pid that still
 * names a group. So once another process has the leader's pid, the old group is empty.
 */
export function outlivesLeader(groupId: number): boolean {
	if (isProcOurs() && existsSync(`/proc/${groupId}`)) return false;
	return signalGroup(groupId, 0) !== "nobody";
}

/** Each process group, with the pid of a living process in it; undefined if there are only zombies in it. */
export type ProcessGroups = ReadonlyMap<number, number | undefined>;

/** Undefined without a usable /proc. */
export function readGroups(): ProcessGroups | undefined {
	if (!isProcOurs()) return undefined;
	const groups = new Map<number, number | undefined>();
	for (const name of readdirSync("/proc")) {
		if (!/^\d+$/.test(name)) continue;
		const entry = readProcess(Number(name));
		if (entry === undefined) continue;
		if (isLiving(entry)) groups.set(entry.groupId, entry.pid);
		else if (!groups.has(entry.groupId)) groups.set(entry.groupId, undefined);
	}
	return groups;
}

/** Looks for living processes in groups, and reads the process table at most once. */
export class GroupCensus {
	private groups: ProcessGroups | undefined;
	private isRead = false;

	constructor(private readonly read = readGroups) {}

	/**
	 * A living process of a group whose leader was reaped; undefined if none is left. `known` was alive at the last look:
	 * it is checked first, to avoid reading all others. Without a usable /proc a zombie counts as living.
	 */
	livingMember(groupId: number, known: number | undefined): number | undefined {
		if (!outlivesLeader(groupId)) return undefined;
		if (known !== undefined && isMember(readProcess(known), groupId))
			return known;
		if (!this.isRead) this.groups = this.read();
		this.isRead = true;
		if (this.groups === undefined) return groupId;
		if (this.groups.has(groupId)) return this.groups.get(groupId);
		// A process that forks and leaves the group while the table is read hides its child: the next look finds it.
		return signalGroup(groupId, 0) === "sent" ? groupId : undefined;
	}
}

function isMember(entry: ProcessEntry | undefined, groupId: number): boolean {
	return entry !== undefined && entry.groupId === groupId && isLiving(entry);
}

const FIRST_DELAY_MS = 10;
const LONGEST_DELAY_MS = 100;

/** Called at each look with whether a process of the group lives; `false` is the last call. */
type GroupListener = (alive: boolean) => void;

interface WatchedGroup {
	readonly listener: GroupListener;
	/** A process of the group that was alive at the last look. */
	member: number | undefined;
}

/**
 * Waits until process groups whose leaders were reaped are empty. Only a parent learns of a process's end, so all groups
 * are polled together: that costs the same for one as for a hundred.
 */
export class GroupWatch {
	private readonly groups = new Map<number, WatchedGroup>();
	private delayMs = 0;
	private cancelLook: (() => void) | undefined;

	constructor(private readonly clock: Clock) {}

	/** Calls `listener` at once if the group is empty, else soon and then repeatedly. */
	watch(groupId: number, listener: GroupListener): void {
		if (!outlivesLeader(groupId)) {
			listener(false);
			return;
		}
		this.groups.set(groupId, { listener, member: undefined });
		this.lookIn(0);
	}

	private lookIn(delayMs: number): void {
		this.cancelLook?.();
		this.delayMs = delayMs;
		this.cancelLook = this.clock.wakeAt(this.clock.now() + delayMs, () =>
			this.look(),
		);
	}

	private look(): void {
		this.cancelLook = undefined;
		const census = new GroupCensus();
		const looked = [...this.groups];
		for (const [groupId, group] of looked) {
			group.member = census.livingMember(groupId, group.member);
			if (group.member === undefined) this.groups.delete(groupId);
		}
		if (this.groups.size > 0) {
			const doubled = Math.max(FIRST_DELAY_MS, this.delayMs * 2);
			this.lookIn(Math.min(LONGEST_DELAY_MS, doubled));
		}
		// Last, because a listener may start another watch.
		for (const [, { listener, member }] of looked)
			listener(member !== undefined);
	}
}
