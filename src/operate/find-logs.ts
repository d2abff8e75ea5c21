import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { ownEntries } from "../node-files/local-agents.js";
import { findKnownAgents } from "./find-agent.js";
import type { Searcher } from "./found-runs.js";
import { keptRuns } from "./found-runs.js";

/** The name of temporary log directories: `<temporary directory>/elastic-run-logs-…`. */
export const TEMPORARY_LOGS_PREFIX = "elastic-run-logs-";

/** The logs of one start of a run on this machine. */
export interface RunLogs {
	readonly runId: string;
	readonly instance: number;
	/** One directory per node: `<log dir>/<run id>/<instance>/<node id>`. */
	readonly nodes: readonly string[];
}

/** Where the user says that logs are. */
export interface LogPlace {
	readonly logDir: string | undefined;
	/** Nowhere else: a run of the same name may have others. */
	readonly isOnly?: boolean;
}

/**
 * The logs of a run's newest start for which there are any: from its living launchers, the given log directory, and
 * temporary ones.
 * @param runId undefined: the run that was started last
 */
export function findLogs(
	runId: string | undefined,
	{ logDir, isOnly = false }: LogPlace,
	searcher: Searcher,
): RunLogs | undefined {
	const { host, uid } = searcher;
	const roots =
		logDir === undefined
			? ownTemporaryLogs(host.temporaryDirectory, uid)
			: [resolve(host.cwd, logDir)];
	const found = [
		...(isOnly ? [] : recordedLogs(runId, searcher)),
		...roots.flatMap((root) => nodeDirectories(root, runId)),
	].map(placeOf);
	const newest = found.reduce<(typeof found)[number] | undefined>(
		(best, place) =>
			best === undefined || place.instance > best.instance ? place : best,
		undefined,
	);
	if (newest === undefined) return undefined;
	const nodes = found
		.filter(
			(place) =>
				place.instance === newest.instance && place.runId === newest.runId,
		)
		.map(({ directory }) => directory);
	return { ...newest, nodes: [...new Set(nodes)].sort() };
}

/** The log directories of living launchers, and those of ended runs that still exist. */
function recordedLogs(
	runId: string | undefined,
	searcher: Searcher,
): readonly string[] {
	const living = findKnownAgents({ runId, nodeId: undefined }, searcher);
	const kept = keptRuns(searcher).flatMap(({ logDirectory, ...run }) => {
		const isMeant = runId === undefined || run.runId === runId;
		const isThere = isMeant && logDirectory && existsSync(logDirectory);
		return isThere ? [logDirectory] : [];
	});
	return [...living.map(({ node }) => node.logDirectory), ...kept];
}

/** The temporary log directories of this user. */
export function ownTemporaryLogs(
	temporaryDirectory: string,
	uid: number,
): readonly string[] {
	return entriesOf(temporaryDirectory)
		.filter((name) => name.startsWith(TEMPORARY_LOGS_PREFIX))
		.map((name) => join(temporaryDirectory, name))
		.filter((directory) => ownEntries(directory, uid).length > 0);
}

function nodeDirectories(
	root: string,
	runId: string | undefined,
): readonly string[] {
	const runs = runId === undefined ? entriesOf(root) : [runId];
	return runs.flatMap((run) =>
		entriesOf(join(root, run))
			// The link `latest` leads to one of the others.
			.filter((instance) => /^\d+$/.test(instance))
			.flatMap((instance) =>
				entriesOf(join(root, run, instance)).map((node) =>
					join(root, run, instance, node),
				),
			),
	);
}

function placeOf(directory: string) {
	const ofInstance = dirname(directory);
	const instance = Number(basename(ofInstance));
	return { directory, instance, runId: basename(dirname(ofInstance)) };
}

/** Empty if it is no directory, or not readable. */
export function entriesOf(directory: string): readonly string[] {
	try {
		return readdirSync(directory).sort();
	} catch {
		return [];
	}
}
