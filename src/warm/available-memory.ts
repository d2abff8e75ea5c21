import { readFileSync } from "node:fs";
import { controlGroupPaths } from "../processes/index.js";

/** The memory that this machine, or this process's control group, still has, in bytes; undefined if it is not known. */
export function availableMemory(): number | undefined {
	const text = readOrUndefined("/proc/meminfo");
	const kilobytes = /^MemAvailable:\s+(\d+) kB$/m.exec(text ?? "")?.[1];
	const known = [
		kilobytes === undefined ? undefined : Number(kilobytes) * 1024,
		groupMemory(),
	].filter((bytes) => bytes !== undefined);
	return known.length === 0 ? undefined : Math.min(...known);
}

/** What a process has in memory, in bytes; 0 if it has ended. */
export function residentMemory(pid: number): number {
	const text = readOrUndefined(`/proc/${pid}/status`);
	const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(text ?? "")?.[1];
	return Number(kilobytes ?? 0) * 1024;
}

function groupMemory(): number | undefined {
	const membership = readOrUndefined("/proc/self/cgroup") ?? "";
	const read = (v2: string, v1: string) =>
		controlGroupPaths(membership, { controller: "memory", v2, v1 })
			.map(readOrUndefined)
			.map((text) => (text === undefined ? Number.NaN : Number(text)))
			.find((number) => Number.isSafeInteger(number));
	const limit = read("memory.max", "memory.limit_in_bytes");
	const used = read("memory.current", "memory.usage_in_bytes");
	if (limit === undefined || used === undefined) return undefined;
	return Math.max(0, limit - used);
}

function readOrUndefined(path: string): string | undefined {
	try {
		return readFileSync(path, "utf8").trim();
	} catch {
		return undefined;
	}
}
