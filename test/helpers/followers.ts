import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { WorkerEvent } from "../../src/channel/events.js";
import type { WorkerRecord } from "./launch.js";
import { isAlive, waitFor } from "./processes.js";

/** What a worker of the job follows.js has written down: its events, and at last a SIGTERM. */
type Followed = WorkerEvent | { readonly kind: "SIGTERM" };

/** What a worker has written down so far. */
export function followed({ pid, env }: WorkerRecord): readonly Followed[] {
	const file = join(env.JOB_RECORDS ?? "", `${pid}.events`);
	if (!existsSync(file)) return [];
	// What follows the last line's end may be half a line.
	const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
	return lines.map((line): Followed => JSON.parse(line));
}

export function eventsOf(worker: WorkerRecord): readonly WorkerEvent[] {
	return followed(worker).filter((one) => one.kind !== "SIGTERM");
}

/** Waits until each of these workers has got such an event of a round. */
export async function sawEvent(
	workers: readonly WorkerRecord[],
	kind: WorkerEvent["kind"],
	round: number,
): Promise<readonly WorkerEvent[]> {
	return waitFor(`${kind} of round ${round}`, () => {
		const found = workers.flatMap((worker) =>
			eventsOf(worker).filter(
				(event) => event.kind === kind && event.round === round,
			),
		);
		return found.length === workers.length && found;
	});
}

/**
 * Checks that all that a worker got makes sense: WORK and PAUSE take turns, a
 * PAUSE is of the round before it, rounds rise, and a WORK says why as its PAUSE did.
 */
export function expectInOrder(worker: WorkerRecord): void {
	const events = eventsOf(worker);
	expect(events.map(({ sequence }) => sequence)).toEqual(
		events.map((_, index) => index + 1),
	);
	for (const [index, event] of events.entries()) {
		const before = events[index - 1];
		const isWork = index % 2 === 0;
		expect(event).toMatchObject({
			kind: isWork ? "WORK" : "PAUSE",
			workerState: isWork ? "HEALTHY" : "PAUSED",
			workerInfo: { round: event.round },
		});
		if (before === undefined) expect(event.changeEvent).toBeNull();
		else if (isWork) {
			expect(event.round).toBeGreaterThan(before.round);
			expect(event.changeEvent).toBe(before.changeEvent);
		} else {
			expect(event.round).toBe(before.round);
			expect(event.workerInfo).toEqual(before.workerInfo);
		}
	}
}

/** Checks that these processes live, and have got no SIGTERM. */
export function expectSpared(workers: readonly WorkerRecord[]): void {
	const spared = workers.map(
		(worker) =>
			isAlive(worker.pid) &&
			followed(worker).every(({ kind }) => kind !== "SIGTERM"),
	);
	expect(spared).toEqual(workers.map(() => true));
}
