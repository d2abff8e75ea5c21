import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
	decodeIdentity,
	encodeIdentity,
	isDeadAgents,
	networkFileSystemOf,
	OWNER_FILE,
	ownIdentity,
	readMessage,
} from "../channel/index.js";

/** Records that this process made a temporary log directory; returns the file. */
export function markTemporaryLogs(root: string): string {
	const path = join(root, OWNER_FILE);
	// The directory may still exist, with only its content gone.
	rmSync(path, { force: true });
	writeFileSync(path, encodeIdentity(ownIdentity()), {
		...{ flag: "wx", mode: 0o600 },
	});
	return path;
}

/** Whether the agent recorded in a directory is certainly gone; null: the owner is unknown. */
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
