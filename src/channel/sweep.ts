import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readMessage } from "./message-file.js";
import {
	decodeIdentity,
	isDead,
	type ProcessIdentity,
} from "./process-identity.js";

/** Says whose directory it is. */
export const OWNER_FILE = "agent.json";

/**
 * Removes the directories of agents that are certainly dead. `local` says that
 * no other machine can see the place, so that an identity from another boot is
 * of an earlier one of this machine. What cannot be read or removed stays.
 */
export function sweepDeadAgents(
	parent: string,
	self: ProcessIdentity,
	local: boolean,
): void {
	for (const entry of readdirSync(parent, { withFileTypes: true })) {
		if (!entry.isDirectory()) continue;
		try {
			const file = readMessage(join(parent, entry.name, OWNER_FILE));
			if (file === undefined) continue;
			const owner = decodeIdentity(file.text);
			if (!local && owner.bootId !== self.bootId) continue;
			if (!isDead(owner, self)) continue;
			rmSync(join(parent, entry.name), { recursive: true, force: true });
		} catch {
			// Its owner is not known, or somebody else has just removed it.
		}
	}
}
