import { fstatSync, readFileSync, readlinkSync } from "node:fs";
import type { WarmStream } from "./warm-messages.js";

/** How a helper opens what this process has open as `descriptor`; undefined if it cannot. */
export function warmStream(descriptor: number): WarmStream | undefined {
	if (descriptor === 0 || descriptor === 1 || descriptor === 2) {
		return { launchers: descriptor };
	}
	try {
		const path = readlinkSync(`/proc/self/fd/${descriptor}`);
		const { dev, ino } = fstatSync(descriptor, { bigint: true });
		const about = readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8");
		const flags = /^flags:\s+([0-7]+)$/m.exec(about)?.[1];
		if (!path.startsWith("/") || flags === undefined) return undefined;
		const identity = [String(dev), String(ino)] as const;
		return { path, flags: Number.parseInt(flags, 8), identity };
	} catch {
		return undefined;
	}
}
