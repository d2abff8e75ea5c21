import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { resolve } from "node:path";
import type { Host } from "./host.js";

/**
 * Below which directory the workers' channels lie: `$ELASTIC_RUN_DIR`, else
 * `$XDG_RUNTIME_DIR`, else the system's temporary directory. After `su` the
 * second one still names another user's directory: then it is passed over.
 */
export async function channelBase(host: Host): Promise<string> {
	const { ELASTIC_RUN_DIR, XDG_RUNTIME_DIR } = host.environment;
	if (ELASTIC_RUN_DIR) return resolve(host.cwd, ELASTIC_RUN_DIR);
	if (XDG_RUNTIME_DIR && (await isWritable(XDG_RUNTIME_DIR))) {
		return resolve(host.cwd, XDG_RUNTIME_DIR);
	}
	return host.temporaryDirectory;
}

async function isWritable(path: string): Promise<boolean> {
	return access(path, constants.W_OK | constants.X_OK).then(
		() => true,
		() => false,
	);
}
