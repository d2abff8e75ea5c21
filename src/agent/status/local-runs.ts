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
import { decodeMirror, MIRROR_FILE, type Mirror } from "./mirror-file.js";

/** A run whose state is in the memory of an agent of this machine. */
export interface LocalRun extends Mirror {
	/** The agent's directory. */
	readonly directory: string;
	/** The agent's process. */
	readonly pid: number;
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

/** Runs of living agents, in the order of their directories' names. */
export function findLocalRuns(
	bases: readonly string[],
	uid: number,
): readonly LocalRun[] {
	const self = ownIdentity();
	return bases
		.map((base) => join(base, `elastic-run-${uid}`))
		.flatMap((parent) =>
			ownEntries(parent, uid).flatMap(
				(name) => readLocalRun(join(parent, name), self) ?? [],
			),
		);
}

/** What is in a directory of this user's own: what another one has put there is not read. */
function ownEntries(directory: string, uid: number): readonly string[] {
	try {
		const stat = lstatSync(directory);
		if (!stat.isDirectory() || stat.uid !== uid) return [];
		return readdirSync(directory).sort();
	} catch {
		// It is not there, or the last agent in it has just taken it away.
		return [];
	}
}

/** Undefined where it is no directory of a living agent, or the agent keeps its state elsewhere. */
function readLocalRun(
	directory: string,
	self: ProcessIdentity,
): LocalRun | undefined {
	try {
		const text = readFileSync(join(directory, OWNER_FILE), "utf8");
		const owner = decodeIdentity(text);
		if (isDead(owner, self)) return undefined;
		const mirror = decodeMirror(
			readFileSync(join(directory, MIRROR_FILE), "utf8"),
		);
		return mirror && { ...mirror, directory, pid: owner.pid };
	} catch {
		// It ended meanwhile, or has not got so far yet.
		return undefined;
	}
}
