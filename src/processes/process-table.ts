import { readdirSync } from "node:fs";
import { isLiving, isProcOurs, readProcess } from "../base/process-stat.js";

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
