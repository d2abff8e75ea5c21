import { readFileSync } from "node:fs";
import { controlGroupPaths } from "./control-group.js";

/**
 * The files that may count the out-of-memory kills of a process's control group, best first. `membership` is the text of
 * its /proc/PID/cgroup.
 */
export function oomCounterFiles(membership: string): readonly string[] {
	return controlGroupPaths(membership, {
		controller: "memory",
		v2: "memory.events",
		v1: "memory.oom_control",
	});
}

/** The count in such a file's text; undefined if it has none. */
export function parseOomKills(text: string): number | undefined {
	const count = /^oom_kill (\d+)$/m.exec(text)?.[1];
	return count === undefined ? undefined : Number(count);
}

/**
 * How many processes of this agent's control group the kernel has killed for lack of memory, since the group was made.
 * Undefined if unreadable.
 */
export function readOomKills(): number | undefined {
	for (const file of oomCounterFiles(read("/proc/self/cgroup"))) {
		const count = parseOomKills(read(file));
		if (count !== undefined) return count;
	}
	return undefined;
}

function read(file: string): string {
	try {
		return readFileSync(file, "utf8");
	} catch {
		return "";
	}
}
