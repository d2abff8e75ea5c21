import { existsSync } from "node:fs";
import { systemErrorCode } from "../../errors.js";
import {
	isLiving,
	isProcOurs,
	type ProcessEntry,
	readProcess,
} from "../../process-stat.js";
import { readLivingGroups } from "./process-table.js";

/** `refused`: there are processes in the group, and all of them belong to other users. */
export type Delivery = "sent" | "refused" | "nobody";

/** Signals every process of a group; 0 only asks what would come of it. */
export function signalGroup(
	groupId: number,
	signal: NodeJS.Signals | 0,
): Delivery {
	try {
		process.kill(-groupId, signal);
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
 * Whether a group whose leader has been reaped may still have processes, zombies
 * included. Once a process bears the leader's pid again, the group is a stranger's:
 * the kernel gives no pid away that a group still goes by.
 */
export function outlivesLeader(groupId: number): boolean {
	if (isProcOurs() && existsSync(`/proc/${groupId}`)) return false;
	return signalGroup(groupId, 0) !== "nobody";
}

/** Looks for living processes in groups, reading the whole process table at most once. */
export class GroupCensus {
	#livingGroups: ReadonlyMap<number, number> | undefined;
	#read = false;

	/**
	 * A living process of a group whose leader has been reaped; undefined where none
	 * is left. `known` is one that was alive at the last look: asked first, it spares
	 * the reading of all others. Without a /proc of ours a zombie counts as living.
	 */
	livingMember(groupId: number, known: number | undefined): number | undefined {
		if (!outlivesLeader(groupId)) return undefined;
		if (known !== undefined && isMember(readProcess(known), groupId))
			return known;
		if (!this.#read) this.#livingGroups = readLivingGroups();
		this.#read = true;
		return this.#livingGroups === undefined
			? groupId
			: this.#livingGroups.get(groupId);
	}
}

function isMember(entry: ProcessEntry | undefined, groupId: number): boolean {
	return entry !== undefined && entry.groupId === groupId && isLiving(entry);
}
