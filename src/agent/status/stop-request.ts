import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { JsonFields } from "../../channel/json-fields.js";
import { readMessage, replaceFile } from "../../channel/message-file.js";
import { watchDirectory } from "../../channel/watch-directory.js";
import type { Clock } from "../../clock.js";
import { pause } from "../../rendezvous/back-off.js";

/** In the directory of an agent that keeps its run's state in its memory: the run is to be ended. */
const STOP_FILE = "stop.json";

/** How long an agent stays for the sake of who asked, and how often it looks, in milliseconds. */
const SEEN_WITHIN_MS = 1_000;
const LOOK_EVERY_MS = 5;

/** Asks the agent of this directory to end its run. Throws the system's error. */
export function requestStop(directory: string, reason: string): void {
	const text = JSON.stringify({ version: 1, reason });
	replaceFile(join(directory, STOP_FILE), text, directory);
}

/** Lets the agent go, which has said how its run ended. Throws the system's error. */
export function takeBackRequest(directory: string): void {
	rmSync(join(directory, STOP_FILE), { force: true });
}

/** Resolves when who asked has seen the answer, and soon where it does not look any more. */
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

/**
 * Calls `onRequest` once, with who ends the run in words, as soon as somebody
 * asks for it. Returns a function that ends the watch.
 */
export function onStopRequest(
	directory: string,
	onRequest: (reason: string) => void,
	clock: Clock,
): () => void {
	let isHeard = false;
	const look = () => {
		const reason = isHeard ? undefined : readRequest(directory);
		if (reason === undefined) return;
		isHeard = true;
		onRequest(reason);
	};
	// What watches the workers' channels says it where there are no notifications.
	const close = watchDirectory(directory, look, { clock, warn: () => {} });
	look();
	return close;
}

function readRequest(directory: string): string | undefined {
	try {
		const file = readMessage(join(directory, STOP_FILE));
		return file && JsonFields.parse(file.text).text("reason");
	} catch {
		// What is no request is none.
		return undefined;
	}
}
