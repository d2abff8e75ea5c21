import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pause } from "../base/back-off.js";
import type { Clock } from "../base/clock.js";
import { watchDirectory } from "../channel/directory-watch.js";
import { readRequest, writeRequest } from "./request-file.js";

/** The file that asks an agent to end its run, in the directory of an agent that keeps the run's state in its memory. */
const STOP_FILE = "stop.json";

/** How long an agent stays for the command that asked, and how often it looks, in milliseconds. */
const SEEN_WITHIN_MS = 1_000;
const LOOK_EVERY_MS = 5;

/**
 * Asks the agent of this directory to end its run.
 * @throws ElasticRunError CHANNEL
 */
export function requestStop(directory: string, reason: string): void {
	writeRequest(directory, STOP_FILE, { reason });
}

/** Releases the agent after it has said how its run ended. Throws the system's error. */
export function takeBackRequest(directory: string): void {
	rmSync(join(directory, STOP_FILE), { force: true });
}

/** Resolves when the command has seen the answer, or soon if it no longer looks. */
export async function whenTakenBack(
	directory: string,
	clock: Clock,
): Promise<void> {
	const until = clock.now() + SEEN_WITHIN_MS;
	const file = join(directory, STOP_FILE);
	while (existsSync(file) && clock.now() < until) {
		await pause(clock, LOOK_EVERY_MS);
	}
}

/** Calls `onRequest` once, with who ends the run in words, when a request comes. Returns a function that ends the watch. */
export function onStopRequest(
	directory: string,
	onRequest: (reason: string) => void,
	clock: Clock,
): () => void {
	let isHeard = false;
	const look = () => {
		const reason = isHeard
			? undefined
			: readRequest(directory, STOP_FILE, "reason");
		if (reason === undefined) return;
		isHeard = true;
		onRequest(reason);
	};
	// If there are no notifications, the watch on the workers' channels says so.
	const close = watchDirectory(directory, look, { clock, warn: () => {} });
	look();
	return close;
}
