import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readMessage } from "../../channel/message-file.js";
import { networkFileSystemOf } from "../../channel/network-file-system.js";
import {
	decodeIdentity,
	encodeIdentity,
	ownIdentity,
} from "../../channel/process-identity.js";
import { isDeadAgents, OWNER_FILE } from "../../channel/sweep.js";

/** Writes down that this process has made a temporary log directory; returns the file. */
export function markTemporaryLogs(root: string): string {
	const path = join(root, OWNER_FILE);
	writeFileSync(path, encodeIdentity(ownIdentity()), {
		...{ flag: "wx", mode: 0o600 },
	});
	return path;
}

/**
 * Whether the agent that has written its identity into a directory is
 * certainly gone; null: nobody knows whose the directory is.
 */
export function isOrphaned(directory: string): boolean | null {
	try {
		const file = readMessage(join(directory, OWNER_FILE));
		if (file === undefined) return null;
		const isLocal = networkFileSystemOf(directory) === undefined;
		return isDeadAgents(decodeIdentity(file.text), ownIdentity(), isLocal);
	} catch {
		return null;
	}
}
