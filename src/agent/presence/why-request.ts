import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import { replaceFile } from "../../channel/message-file.js";
import { watchDirectory } from "../../channel/watch-directory.js";
import { readRequest } from "./request-file.js";

/** The file that asks an agent what its workers do, in the directory of an agent that keeps the run's state in its memory. */
const WHY_FILE = "why.json";

/** Asks the agent of this directory. Throws the system's error. */
export function requestWhy(directory: string, id: string): void {
	const text = JSON.stringify({ version: 1, id });
	replaceFile(join(directory, WHY_FILE), text, directory);
}

/** Calls `onRequest` with the id of each new question. Returns a function that ends the watch. */
export function onWhyRequest(
	directory: string,
	onRequest: (id: string) => void,
	clock: Clock,
): () => void {
	let heard: string | undefined;
	const look = () => {
		const id = readRequest(directory, WHY_FILE, "id");
		if (id === undefined || id === heard) return;
		heard = id;
		onRequest(id);
	};
	// If there are no notifications, the watch on the workers' channels says so.
	return watchDirectory(directory, look, { clock, warn: () => {} });
}
