import { readdirSync } from "node:fs";
import { isLiving, isProcOurs, readProcess } from "../base/process-stat.js";

/** Each process group with a living process, and one such pid; undefined without a usable /proc. */
export function readLivingGroups(): ReadonlyMap<number, number> | undefined {
	if (!isProcOurs()) return undefined;
	const groups = new Map<number, number>();
	for (const name of readdirSync("/proc")) {
		if (!/^\d+$/.test(name)) continue;
		const entry = readProcess(Number(name));
		if (entry !== undefined && isLiving(entry))
			groups.set(entry.groupId, entry.pid);
	}
	return groups;
}
