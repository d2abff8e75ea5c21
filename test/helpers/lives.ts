import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LaunchSite } from "./launch.js";
import { isAlive, waitFor } from "./processes.js";

/** A worker's life as it wrote it down itself; times are milliseconds on the machine's steady clock. */
export interface Life {
	readonly nodeId: string;
	readonly round: number;
	readonly rank: number;
	readonly pid: number;
	/** When its process began. */
	readonly born: number;
	/** When it first said that it lives. */
	readonly firstBeat: number;
	/** When it certainly still lived. */
	readonly lastBeat: number;
	/** The longest time between two beats. */
	readonly longestPause: number;
}

/** The present time on the clock of `Life`. */
export function now(): number {
	return Number(process.hrtime.bigint()) / 1e6;
}

/** The workers of the job beats.js that have run here, in the order of their births. */
export function livesAt(
	site: LaunchSite,
	which: { readonly nodeId?: string; readonly round?: number } = {},
): readonly Life[] {
	const folder = recordsOf(site);
	return readdirSync(folder)
		.filter((name) => name.endsWith(".beats"))
		.flatMap((name) => lifeIn(join(folder, name)))
		.filter(
			({ nodeId, round }) =>
				(which.nodeId ?? nodeId) === nodeId && (which.round ?? round) === round,
		)
		.sort((left, right) => left.born - right.born);
}

/** Waits until so many workers of a node, or of a round, have lived, and returns them. */
export async function sawLives(
	site: LaunchSite,
	count: number,
	which: { readonly nodeId?: string; readonly round?: number },
): Promise<readonly Life[]> {
	return waitFor(`${count} workers of ${JSON.stringify(which)}`, () => {
		const lives = livesAt(site, which);
		return lives.length >= count && lives;
	});
}

/** Waits until each of these processes has beaten once more: they live, and nobody has stopped them. */
export async function sawBeat(
	site: LaunchSite,
	lives: readonly Life[],
): Promise<void> {
	const since = now();
	await waitFor("a beat of each worker", () =>
		lives.every(({ pid }) =>
			livesAt(site).some((life) => life.pid === pid && life.lastBeat > since),
		),
	);
}

/** Waits until none of these processes lives any more. */
export async function sawEnd(lives: readonly Life[]): Promise<void> {
	await waitFor("the workers' end", () =>
		lives.every(({ pid }) => !isAlive(pid)),
	);
}

/** Makes the worker of this rank fail, once it is there, in this round. */
export function failWorker(
	site: LaunchSite,
	round: number,
	rank: number,
): void {
	writeFileSync(join(recordsOf(site), `fail-${round}-${rank}`), "");
}

/** Lets all workers succeed. */
export function releaseWorkers(site: LaunchSite): void {
	writeFileSync(site.release, "");
}

function recordsOf({ environment }: LaunchSite): string {
	return environment.JOB_RECORDS ?? "";
}

/** None while its first beat is not there yet. */
function lifeIn(file: string): readonly Life[] {
	// What follows the last line's end may be half a line.
	const [facts, ...beats] = readFileSync(file, "utf8").split("\n").slice(0, -1);
	const times = beats.map(Number);
	const [firstBeat, lastBeat] = [times[0], times.at(-1)];
	if (
		facts === undefined ||
		firstBeat === undefined ||
		lastBeat === undefined
	) {
		return [];
	}
	const pauses = times.map((time, index) => time - (times[index - 1] ?? time));
	const longestPause = Math.max(...pauses);
	return [{ ...JSON.parse(facts), firstBeat, lastBeat, longestPause }];
}
