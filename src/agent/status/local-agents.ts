import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
	decodeIdentity,
	isDead,
	ownIdentity,
	type ProcessIdentity,
} from "../../channel/process-identity.js";
import { OWNER_FILE } from "../../channel/sweep.js";
import type { Host } from "../configuration/host.js";

/** An agent of this machine and this user. */
export interface LocalAgent {
	/** What it keeps there is described in docs/channel.md. */
	readonly directory: string;
	readonly owner: ProcessIdentity;
}

/**
 * The directories below which agents of this user may have theirs. An agent
 * may have been started from another kind of session than this command, where
 * the environment names another one.
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

/** The agents that live, in the order of their directories' names. */
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

/** Below a base, where the agents of a user have their directories. */
export function agentsParent(base: string, uid: number): string {
	return join(base, `elastic-run-${uid}`);
}

/** Whether it is still the same process that has this directory. */
export function isStillThere({ owner }: LocalAgent): boolean {
	return !isDead(owner, ownIdentity());
}

/** What is in a directory of this user's own: what another one has put there is not read. */
export function ownEntries(directory: string, uid: number): readonly string[] {
	try {
		const stat = lstatSync(directory);
		if (!stat.isDirectory() || stat.uid !== uid) return [];
		return readdirSync(directory).sort();
	} catch {
		// It is not there, or the last agent in it has just taken it away.
		return [];
	}
}

function ownerOf(directory: string): ProcessIdentity | undefined {
	try {
		return decodeIdentity(readFileSync(join(directory, OWNER_FILE), "utf8"));
	} catch {
		// It is no agent's, or it ended meanwhile.
		return undefined;
	}
}
