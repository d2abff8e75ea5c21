import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { attempt } from "../base/attempt.js";
import {
	decodeIdentity,
	isDead,
	OWNER_FILE,
	ownIdentity,
	type ProcessIdentity,
} from "../channel/index.js";
import type { Host } from "../config/index.js";

/** An agent of this machine and this user. */
export interface LocalAgent {
	/** Its files are described in docs/channel.md. */
	readonly directory: string;
	readonly owner: ProcessIdentity;
}

/**
 * The directories that may hold this user's agent directories. An agent may have been started in another kind of session
 * than this command, with another environment.
 */
export function localBases(
	{ environment, cwd, temporaryDirectory }: Host,
	uid: number,
): readonly string[] {
	const { ELASTIC_RUN_DIR, XDG_RUNTIME_DIR } = environment;
	const bases = [
		ELASTIC_RUN_DIR,
		XDG_RUNTIME_DIR,
		`/run/user/${uid}`,
		temporaryDirectory,
	];
	const given = bases.filter((base) => base !== undefined && base !== "");
	return [...new Set(given.map((base) => resolve(cwd, base ?? "")))];
}

/** The living agents, sorted by directory name. */
export function findLocalAgents(
	bases: readonly string[],
	uid: number,
): readonly LocalAgent[] {
	const self = ownIdentity();
	return bases
		.map((base) => agentsParent(base, uid))
		.flatMap((parent) =>
			ownEntries(parent, uid).flatMap((name) => {
				const directory = join(parent, name);
				const owner = ownerOf(directory);
				const isAlive = owner !== undefined && !isDead(owner, self);
				return isAlive ? [{ directory, owner }] : [];
			}),
		);
}

/** The directory below a base that holds the agents' directories of a user. */
export function agentsParent(base: string, uid: number): string {
	return join(base, `elastic-run-${uid}`);
}

/** Whether the same process still owns this directory. */
export function isStillThere({ owner }: LocalAgent): boolean {
	return !isDead(owner, ownIdentity());
}

/** The entries of a directory that this user owns; what another user made is not read. */
export function ownEntries(directory: string, uid: number): readonly string[] {
	try {
		const stat = lstatSync(directory);
		if (!stat.isDirectory() || stat.uid !== uid) return [];
		return readdirSync(directory).sort();
	} catch {
		// It does not exist, or its last agent has just removed it.
		return [];
	}
}

function ownerOf(directory: string): ProcessIdentity | undefined {
	// It may belong to no agent, or its agent may have ended meanwhile.
	return attempt(() =>
		decodeIdentity(readFileSync(join(directory, OWNER_FILE), "utf8")),
	);
}
