import { closeSync, readSync, writeSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import { PARKING_DESCRIPTOR } from "../../channel/index.js";
import { parkedBy, replaceVariables } from "../environment.js";

const CHUNK_BYTES = 64 * 1024;
const LINE_FEED = 10;

/**
 * In a process that was started ahead: blocks until the launcher says which worker it is. It runs before anything of the
 * script is looked for, so that Node goes on as if it had been started at this moment.
 */
export function waitForPlace(): void {
	const launcher = isMainThread ? parkedBy() : undefined;
	if (launcher === undefined) return;
	const line = process.ppid === launcher ? readLine() : undefined;
	// Without a launcher there is no place.
	if (line === undefined) process.exit(0);
	const place: unknown = JSON.parse(line);
	replaceVariables(place);
	writeSync(PARKING_DESCRIPTOR, "\n");
	closeSync(PARKING_DESCRIPTOR);
}

/** Undefined if the launcher has ended. */
function readLine(): string | undefined {
	const chunks: Buffer[] = [];
	for (;;) {
		const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
		const length = readSync(PARKING_DESCRIPTOR, chunk);
		if (length === 0) return undefined;
		chunks.push(chunk.subarray(0, length));
		if (chunk[length - 1] === LINE_FEED) {
			return Buffer.concat(chunks).toString("utf8");
		}
	}
}
