import { dirname } from "node:path";
import { textAt } from "../base/attempt.js";

/** The name of a control group's file, in version 2 and in version 1. */
export interface ControlGroupFile {
	readonly controller: "memory" | "pids";
	readonly v2: string;
	readonly v1: string;
}

/**
 * The candidate paths of such a file for a process's control group, best first. `membership` is the text of its
 * /proc/PID/cgroup.
 */
export function controlGroupPaths(
	membership: string,
	{ controller, v1, v2 }: ControlGroupFile,
): readonly string[] {
	const paths = membership.split("\n").flatMap((line) => {
		const [, controllers, group] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
		if (group === undefined) return [];
		if (controllers === "") return upwards("/sys/fs/cgroup", group, v2);
		return controllers?.split(",").includes(controller)
			? upwards(`/sys/fs/cgroup/${controller}`, group, v1)
			: [];
	});
	return [...new Set(paths)];
}

/**
 * A group without this controller is counted in the nearest one above that has it. In a container the path may be the
 * host's, while the container's own group is mounted at the top.
 */
function upwards(
	mount: string,
	group: string,
	file: string,
): readonly string[] {
	if (group.length <= 1) return [`${mount}/${file}`];
	return [`${mount}${group}/${file}`, ...upwards(mount, dirname(group), file)];
}

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
 * Whichever group's limit it was, the kernel counts the kill in the victim's own; the count of a parent has the neighbours'.
 * Undefined if unreadable.
 */
export function readOomKills(): number | undefined {
	for (const file of oomCounterFiles(textAt("/proc/self/cgroup") ?? "")) {
		const count = parseOomKills(textAt(file) ?? "");
		if (count !== undefined) return count;
	}
	return undefined;
}
