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
		if (controllers === "") return both("/sys/fs/cgroup", group, v2);
		return controllers?.split(",").includes(controller)
			? both(`/sys/fs/cgroup/${controller}`, group, v1)
			: [];
	});
	return [...new Set(paths)];
}

/** In a container the path may be the host's, while the container's own group is mounted at the top. */
function both(mount: string, group: string, file: string): readonly string[] {
	const folder = group === "/" ? "" : group;
	return [`${mount}${folder}/${file}`, `${mount}/${file}`];
}
