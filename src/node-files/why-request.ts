import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../base/clock.js";
import { watchDirectory } from "../channel/directory-watch.js";
import { requestsIn, writeRequest } from "./request-file.js";

/** A question of what an agent's workers do, in the directory of an agent that keeps the run's state in its memory. */
const QUESTION = /^why-([\w-]{1,100})\.json$/;

/** Asks the agent of this directory. Each question has a file of its own. Throws as `writeRequest`. */
export function requestWhy(directory: string, id: string): void {
	writeRequest(directory, `why-${id}.json`, { id });
}

/** Calls `onRequest` with the id of each question, and takes it away. Returns a function that ends the watch. */
export function onWhyRequest(
	directory: string,
	onRequest: (id: string) => void,
	clock: Clock,
): () => void {
	const look = () => {
		for (const [name, id] of requestsIn(directory, QUESTION)) {
			rmSync(join(directory, name), { force: true });
			onRequest(id);
		}
	};
	// If there are no notifications, the watch on the workers' channels says so.
	return watchDirectory(directory, look, { clock, warn: () => {} });
}
