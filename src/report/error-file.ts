import { HeldFile } from "../logs/held-file.js";
import { parseErrorFile } from "./parse-error-file.js";
import type { WorkerError } from "./run-report.js";

const LARGEST_BYTES = 1024 * 1024;

/** Reads a worker's error file; undefined if it is missing, larger than 1 MiB or malformed. Never throws. */
export function readErrorFile(path: string): WorkerError | undefined {
	const section = new HeldFile(path).section(0, LARGEST_BYTES);
	if (section === undefined || section.size > LARGEST_BYTES) return undefined;
	return parseErrorFile(section.bytes.toString("utf8"));
}
