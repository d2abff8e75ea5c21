import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { LaunchSite } from "./launch.js";
import { waitFor } from "./processes.js";

/** What a hook says in ready.json. */
export interface HookReady {
	readonly version: number;
	readonly kind: string;
	readonly pid: number;
	readonly signal: number | null;
	readonly torch_socket: string | null;
	/** Absent before it joins one. */
	readonly process_group?: string;
}

interface SeenHook {
	readonly hook: string;
	readonly ready: HookReady;
}

/** Waits for a worker's hook that is ready, and such. */
export function sawHook(
	site: LaunchSite,
	isSuch: (ready: HookReady) => boolean = () => true,
): Promise<SeenHook> {
	return waitFor("a hook that is ready", () => {
		for (const path of readyFiles(site.channels)) {
			const ready: HookReady = JSON.parse(readFileSync(path, "utf8"));
			if (isSuch(ready)) return { hook: dirname(path), ready };
		}
		return undefined;
	});
}

function readyFiles(channels: string): readonly string[] {
	try {
		return readdirSync(channels, { recursive: true, encoding: "utf8" })
			.filter((name) => name.endsWith("/hook/ready.json"))
			.map((name) => join(channels, name));
	} catch {
		return []; // A directory was made or removed meanwhile.
	}
}

/** A file of the hook; empty if it is not there. */
export function hookFile(hook: string, name: string): string {
	const path = join(hook, name);
	return existsSync(path) ? readFileSync(path, "utf8") : "";
}
