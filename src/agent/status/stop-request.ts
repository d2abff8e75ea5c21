import { join } from "node:path";
import { JsonFields } from "../../channel/json-fields.js";
import { readMessage, replaceFile } from "../../channel/message-file.js";
import { watchDirectory } from "../../channel/watch-directory.js";
import type { Clock } from "../../clock.js";

/** In the directory of an agent that keeps its run's state in its memory: the run is to be ended. */
const STOP_FILE = "stop.json";

/** Asks the agent of this directory to end its run. Throws the system's error. */
export function requestStop(directory: string, reason: string): void {
	const text = JSON.stringify({ version: 1, reason });
	replaceFile(join(directory, STOP_FILE), text, directory);
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
