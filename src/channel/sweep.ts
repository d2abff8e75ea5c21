import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { readMessage } from "./message-file.js";
import {
	decodeIdentity,
	isDead,
	type ProcessIdentity,
} from "./process-identity.js";
import { ENDING_PREFIX, removeDirectory } from "./remove-directory.js";

/** Names the owner of a directory. */
export const OWNER_FILE = "agent.json";

/**
 * Removes the directories of agents that are certainly dead. `local`: no other machine can see the place, so an identity
 * from another boot is an earlier one of this machine. What cannot be read or removed stays.
 */
export function sweepDeadAgents(
	parent: string,
	self: ProcessIdentity,
	local: boolean,
): void {
	const isLeftBehind = (directory: string) => {
		const file = readMessage(join(directory, OWNER_FILE));
		if (file === undefined) return isHalfRemoved(directory);
		const owner = decodeIdentity(file.text);
		return isDeadAgents(owner, self, local);
	};
	for (const entry of readdirSync(parent, { withFileTypes: true })) {
		if (!entry.isDirectory()) continue;
		const directory = join(parent, entry.name);
		try {
			if (isLeftBehind(directory)) removeDirectory(directory, isLeftBehind);
		} catch {
			// Its owner is unknown, or somebody else has just removed it.
		}
	}
}

/**
 * Whether the agent of a directory is certainly dead. An identity from another boot proves it only if no other machine
 * can see the place.
 */
export function isDeadAgents(
	owner: ProcessIdentity,
	self: ProcessIdentity,
	local: boolean,
): boolean {
	return (local || owner.bootId === self.bootId) && isDead(owner, self);
}

function isHalfRemoved(directory: string): boolean {
	return basename(directory).startsWith(ENDING_PREFIX);
}
