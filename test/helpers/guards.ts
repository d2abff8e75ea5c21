import { readFileSync, readlinkSync } from "node:fs";
import { waitFor } from "./processes.js";

/** The guard among a launcher's children: it alone has `guard-of-workers` as its name. */
export function guardsOf(pid: number): number[] {
	return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
		.trim()
		.split(" ")
		.map(Number)
		.filter((child) => wordsOf(child)[3] === "guard-of-workers");
}

/** A process's command line; none if it has ended. */
export function wordsOf(pid: number): readonly string[] {
	try {
		return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
	} catch {
		return [];
	}
}

/** Waits until the guard of a launcher holds the connection over which it says its last word, another one than before. */
export function sawVoice(pid: number, before = ""): Promise<string> {
	return waitFor(`a voice of the guard of ${pid}`, () =>
		guardsOf(pid)
			.map(thirdOf)
			.find((file) => file.startsWith("socket:") && file !== before),
	);
}

/** What its descriptor 3 is. */
function thirdOf(pid: number): string {
	try {
		return readlinkSync(`/proc/${pid}/fd/3`);
	} catch {
		return "";
	}
}
