import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { resolve } from "node:path";
import type { Host } from "./host.js";

/**
 * The parent of the channel directories: `$ELASTIC_RUN_DIR`, else `$XDG_RUNTIME_DIR`, else the system's temporary
 * directory. `$XDG_RUNTIME_DIR` is skipped if it belongs to another user, as after `su`.
 */
export async function channelBase(host: Host): Promise<string> {
	const { ELASTIC_RUN_DIR, XDG_RUNTIME_DIR } = host.environment;
	if (ELASTIC_RUN_DIR) return resolve(host.cwd, ELASTIC_RUN_DIR);
	// It is removed at logout, which a run under nohup must outlive.
	if (host.isHangupIgnored) return host.temporaryDirectory;
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
