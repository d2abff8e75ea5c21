import {
	existsSync,
	mkdtempSync,
	readFileSync,
	rmdirSync,
	statfsSync,
	watch,
} from "node:fs";
import { dirname, join } from "node:path";
import { messageOf, systemErrorCode } from "../../base/errors.js";
import { openChannelRoot } from "../../channel/channel-root.js";
import { networkFileSystemOf } from "../../channel/directory-watch.js";
import {
	type ControlGroupFile,
	controlGroupPaths,
} from "../../supervision/control-group.js";
import { readOomKills } from "../../supervision/oom-kills.js";
import type {
	InotifyFacts,
	MemoryFacts,
	ProcessCounts,
} from "./judge-limits.js";
import type { ChannelFacts, LogFacts } from "./judge-places.js";
import { type Limit, parseCount, parseLimit } from "./limits.js";

/** Version 1 of control groups shows "no limit" as a number near 2^63. */
const NO_LIMIT_BYTES = 2 ** 60;

export function readOpenFiles(): Limit | undefined {
	return parseLimit(read("/proc/self/limits") ?? "", "Max open files");
}

export function readProcessCounts(): ProcessCounts {
	const most = readGroup("pids", "pids.max");
	const now = readGroup("pids", "pids.current");
	return {
		user: parseLimit(read("/proc/self/limits") ?? "", "Max processes"),
		group: most === undefined || now === undefined ? undefined : { most, now },
		isPrivileged: process.getuid?.() === 0,
	};
}

export function readMemory(): MemoryFacts {
	const limit =
		readGroup("memory", "memory.max", "memory.limit_in_bytes") ??
		NO_LIMIT_BYTES;
	return {
		limit: limit < NO_LIMIT_BYTES ? limit : Number.POSITIVE_INFINITY,
		canCountKills: readOomKills() !== undefined,
	};
}

/** Also tries to create a watcher, on `directory`. */
export function probeInotify(directory: string): InotifyFacts | undefined {
	const limit = (name: string) =>
		parseCount(read(`/proc/sys/fs/inotify/${name}`) ?? "");
	const instances = limit("max_user_instances");
	if (Number.isNaN(instances)) return undefined;
	const refusal = refusalOf(() => watch(directory).close());
	return { instances, watches: limit("max_user_watches"), refusal };
}

/** Makes a channel directory as a launcher does, and removes it. */
export function probeChannel(base: string): ChannelFacts {
	const facts = { base, network: undefined, freeBytes: 0 };
	try {
		const channels = openChannelRoot({
			base,
			uid: process.getuid?.() ?? 0,
			runId: "doctor",
			agentId: String(process.pid),
		});
		channels.remove();
		return {
			base,
			refusal: undefined,
			network: networkFileSystemOf(base),
			freeBytes: freeBytesOf(base),
		};
	} catch (error) {
		return { ...facts, refusal: messageOf(error) };
	}
}

/** Examines a log directory, or its nearest existing parent. */
export function probeLogs(wanted: string): LogFacts {
	let directory = wanted;
	while (!existsSync(directory)) directory = dirname(directory);
	const refusal = refusalOf(() =>
		rmdirSync(mkdtempSync(join(directory, ".elastic-run-doctor-"))),
	);
	return { directory, refusal, freeBytes: freeBytesOf(directory) };
}

/** How much ordinary users may still write. */
function freeBytesOf(directory: string): number {
	const { bavail, bsize } = statfsSync(directory);
	return bavail * bsize;
}

function readGroup(
	controller: ControlGroupFile["controller"],
	v2: string,
	v1 = v2,
): number | undefined {
	return controlGroupPaths(read("/proc/self/cgroup") ?? "", {
		controller,
		v2,
		v1,
	})
		.map((path) => parseCount(read(path) ?? ""))
		.find((count) => !Number.isNaN(count));
}

function read(path: string): string | undefined {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return undefined;
	}
}

function refusalOf(action: () => void): string | undefined {
	try {
		action();
		return undefined;
	} catch (error) {
		return systemErrorCode(error) ?? messageOf(error);
	}
}
