import { createHash } from "node:crypto";
import { open, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../base/clock.js";
import { within } from "../base/within.js";
import type { NodeSpeeds } from "../rendezvous/records/preflight-record.js";

const MEGABYTE = 1 << 20;
/** Other work on the machine disturbs single measurements: the best one counts. */
const TRIES = 3;
const PROCESSOR_MB = 8;
const MEMORY_MB = 16;
const DISK_MB = 4;
/** The longest that writing may take. */
const DISK_MS = 500;

/** Takes about 100 ms, at most 600 ms with a slow disk. */
export async function measureSpeeds(
	directory: string,
	name: string,
	clock: Clock,
): Promise<NodeSpeeds> {
	const source = Buffer.alloc(MEMORY_MB * MEGABYTE, 1);
	const target = Buffer.alloc(MEMORY_MB * MEGABYTE);
	const digested = source.subarray(0, PROCESSOR_MB * MEGABYTE);
	return {
		processor: best(clock, PROCESSOR_MB, () => {
			createHash("sha256").update(digested).digest();
		}),
		memory: best(clock, MEMORY_MB, () => {
			source.copy(target);
		}),
		disk: await diskSpeed(
			join(directory, `.${name}.preflight`),
			source.subarray(0, DISK_MB * MEGABYTE),
			clock,
		),
	};
}

function best(clock: Clock, megabytes: number, work: () => void): number {
	const tries = Array.from({ length: TRIES }, () => {
		const begun = clock.now();
		work();
		return clock.now() - begun;
	});
	return perSecond(megabytes, Math.min(...tries));
}

function perSecond(megabytes: number, ms: number): number {
	return (megabytes * 1_000) / Math.max(ms, 0.01);
}

/** Null if it takes too long, or the file cannot be written. */
async function diskSpeed(
	file: string,
	data: Buffer,
	clock: Clock,
): Promise<number | null> {
	const begun = clock.now();
	const written = write(file, data).then(
		() => clock.now() - begun,
		() => undefined,
	);
	const ms = await within(clock, DISK_MS, written);
	return ms === undefined ? null : perSecond(DISK_MB, ms);
}

async function write(path: string, data: Buffer): Promise<void> {
	const file = await open(path, "w", 0o600);
	try {
		await file.write(data);
		await file.sync();
	} finally {
		await file.close();
		await unlink(path);
	}
}
