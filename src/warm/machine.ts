import { textAt } from "../base/attempt.js";
import { controlGroupPaths } from "../processes/index.js";
import type { ColdReason } from "./ahead.js";

/** The memory that this machine, or this process's control group, still has, in bytes; undefined if it is not known. */
export function availableMemory(): number | undefined {
	const text = textAt("/proc/meminfo");
	const kilobytes = /^MemAvailable:\s+(\d+) kB$/m.exec(text ?? "")?.[1];
	const known = [
		kilobytes === undefined ? undefined : Number(kilobytes) * 1024,
		groupMemory(),
	].filter((bytes) => bytes !== undefined);
	return known.length === 0 ? undefined : Math.min(...known);
}

/** What a process has in memory, in bytes; 0 if it has ended. */
export function residentMemory(pid: number): number {
	const text = textAt(`/proc/${pid}/status`);
	const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(text ?? "")?.[1];
	return Number(kilobytes ?? 0) * 1024;
}

function groupMemory(): number | undefined {
	const membership = textAt("/proc/self/cgroup") ?? "";
	const read = (v2: string, v1: string) =>
		controlGroupPaths(membership, { controller: "memory", v2, v1 })
			.map(textAt)
			.map((text) => (text === undefined ? Number.NaN : Number(text)))
			.find((number) => Number.isSafeInteger(number));
	const limit = read("memory.max", "memory.limit_in_bytes");
	const used = read("memory.current", "memory.usage_in_bytes");
	if (limit === undefined || used === undefined) return undefined;
	return Math.max(0, limit - used);
}

/** Whether a helper is worth its memory, and can be had. */
export interface HelperFacts {
	readonly platform: NodeJS.Platform;
	readonly hasSetpriv: boolean;
	/** Available memory of this machine or control group; undefined if it is not known. */
	readonly availableBytes: number | undefined;
	/** What a worker has in memory. */
	readonly workerBytes: number;
}

/** Part of the available memory that a helper may take. */
const MOST_FOR_HELPER = 0.5;

/** Why no helper can be started on this machine; undefined if it can. */
export function helperProblem(facts: HelperFacts): ColdReason | undefined {
	if (facts.platform !== "linux") {
		return { kind: "machine", reason: "warm starts need Linux" };
	}
	if (!facts.hasSetpriv) {
		const reason = "warm starts need setpriv of util-linux 2.33 or later";
		return { kind: "machine", reason };
	}
	const { availableBytes, workerBytes } = facts;
	if (availableBytes === undefined) return undefined;
	if (workerBytes <= availableBytes * MOST_FOR_HELPER) return undefined;
	const reason = `memory is short: a worker has ${megabytes(workerBytes)}, and ${megabytes(availableBytes)} are available`;
	return { kind: "memory", reason };
}

/** Whether workers that wait have room for imports of their own. Each needs so many bytes. */
export function hasRoomFor(
	workers: number,
	bytesEach: number,
	availableBytes: number | undefined,
): boolean {
	if (availableBytes === undefined) return true;
	return workers * bytesEach <= availableBytes * MOST_FOR_HELPER;
}

/** What a Node process has in memory before its script, in bytes: its own, and what it shares with others. */
export const BARE_NODE_BYTES = { own: 20e6, shared: 40e6 } as const;
/** Part of the available memory that waiting processes may take. */
const MOST_FOR_WAITING = 0.25;

/** Why so many processes cannot wait on this machine; undefined if they can. */
export function parkingShortage(
	processes: number,
	availableBytes: number | undefined,
): string | undefined {
	if (availableBytes === undefined) return undefined;
	const { own, shared } = BARE_NODE_BYTES;
	const needed = shared + own * processes;
	if (needed <= availableBytes * MOST_FOR_WAITING) return undefined;
	return `memory is short: ${processes} processes that wait need ${megabytes(needed)}, and ${megabytes(availableBytes)} are available`;
}

function megabytes(bytes: number): string {
	return `${Math.round(bytes / 1e6)} MB`;
}
