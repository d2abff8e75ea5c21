import { readdirSync } from "node:fs";
import { isLiving, isProcOurs, readProcess } from "../../process-stat.js";

/** Each process group that has a living process, with one such pid; undefined without a /proc of ours. */
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
