import { request } from "node:http";
import type { Clock } from "../base/clock.js";
import type { GroupProgress } from "../model/evidence.js";
import { parseRecorder } from "./parse-recorder.js";

/** The dump of a worker's flight recorder, and what it says. */
export interface Recording {
	readonly text: string;
	readonly groups: readonly GroupProgress[];
}

const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Asks torch's own server in a worker for its flight recorder. Undefined if it does not answer by `until` on the clock:
 * C code may hold the interpreter, or the process is stopped. Never throws.
 */
export async function askRecorder(
	socketPath: string,
	clock: Clock,
	until: number,
): Promise<Recording | undefined> {
	try {
		const text = await post(socketPath, "/handler/fr_trace_json", clock, until);
		return { text, groups: parseRecorder(text) };
	} catch {
		return undefined;
	}
}

function post(
	socketPath: string,
	path: string,
	clock: Clock,
	until: number,
): Promise<string> {
	return new Promise((resolve, reject) => {
		const asked = request({ socketPath, path, method: "POST" }, (answer) => {
			const parts: Buffer[] = [];
			let size = 0;
			answer.on("data", (part: Buffer) => {
				size += part.length;
				if (size > MOST_BYTES)
					asked.destroy(new Error("its answer is too long"));
				else parts.push(part);
			});
			answer.on("end", () => {
				if (answer.statusCode === 200) {
					resolve(Buffer.concat(parts).toString("utf8"));
				} else reject(new Error(`it answers with ${answer.statusCode}`));
			});
			answer.on("error", reject);
		});
		const cancel = clock.wakeAt(until, () =>
			asked.destroy(new Error("it does not answer")),
		);
		asked.on("error", reject);
		asked.on("close", cancel);
		asked.end();
	});
}
