import { readFileSection } from "./file-section.js";
import { parseErrorFile } from "./parse-error-file.js";
import type { WorkerError } from "./run-report.js";

const LARGEST_BYTES = 1024 * 1024;

/** Reads a worker's error file; undefined where there is none, or it is larger than 1 MiB or malformed. Never throws. */
export function readErrorFile(path: string): WorkerError | undefined {
	const section = readFileSection(path, 0, LARGEST_BYTES);
	if (section === undefined || section.size > LARGEST_BYTES) return undefined;
	return parseErrorFile(section.bytes.toString("utf8"));
}
