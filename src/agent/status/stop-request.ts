import { watch } from "node:fs";
import { join } from "node:path";
import { JsonFields } from "../../channel/json-fields.js";
import { readMessage, replaceFile } from "../../channel/message-file.js";

/** In the directory of an agent that keeps its run's state in its memory: the run is to be ended. */
const STOP_FILE = "stop.json";

/** Asks the agent of this directory to end its run. Throws the system's error. */
export function requestStop(directory: string, reason: string): void {
	const text = JSON.stringify({ version: 1, reason });
	replaceFile(join(directory, STOP_FILE), text, directory);
}

/**
 * Calls `onRequest` once, with who ends the run in words, as soon as somebody
 * asks for it. Nothing is looked at before something changes in the directory.
 * Returns a function that ends the watch.
 * @param warn told where the directory cannot be watched, so that nobody is heard
 */
export function onStopRequest(
	directory: string,
	onRequest: (reason: string) => void,
	warn: (error: unknown) => void,
): () => void {
	let close = () => {};
	const look = () => {
		const reason = readRequest(directory);
		if (reason === undefined) return;
		close();
		onRequest(reason);
	};
	try {
		const watcher = watch(directory, { persistent: false }, look);
		close = () => watcher.close();
		watcher.on("error", warn);
		look();
	} catch (error) {
		warn(error);
	}
	return () => close();
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
