import { readFileSync } from "node:fs";
import type { CoreSettings } from "./explain-crash.js";

/** The kernel's settings for core files, as workers inherit them; undefined if unreadable. */
export function readCores(): CoreSettings | undefined {
	const pattern = read("/proc/sys/kernel/core_pattern");
	if (pattern === undefined) return undefined;
	return {
		pattern: pattern.trim(),
		usesPid: read("/proc/sys/kernel/core_uses_pid")?.trim() === "1",
		isOff: /^Max core file size +0 /m.test(read("/proc/self/limits") ?? ""),
	};
}

function read(file: string): string | undefined {
	try {
		return readFileSync(file, "utf8");
	} catch {
		return undefined;
	}
}
