import { closeSync } from "node:fs";
import type { LogDirectory } from "../../logs/log-directory.js";
import type { WorkerStreams } from "../../logs/worker-streams.js";
import type { NextStreams } from "../../processes/index.js";

/** Opens the streams of the next worker of this rank. Undefined if the next worker's files are not prepared. */
export function openNextStreams(
	localRank: number,
	plan: WorkerStreams,
	logs: LogDirectory,
): NextStreams | undefined {
	const opened: number[] = [];
	const close = () => opened.splice(0).forEach(closeSync);
	const open = (name: "stdout" | "stderr"): number | undefined => {
		const stream = plan[name];
		if (stream.kind === "inherit") return stream.descriptor;
		const descriptor = logs.openAhead(localRank, name);
		if (descriptor !== undefined) opened.push(descriptor);
		return descriptor;
	};
	const [stdout, stderr] = [open("stdout"), open("stderr")];
	if (stdout !== undefined && stderr !== undefined) {
		return { stdout, stderr, close };
	}
	close();
	return undefined;
}
