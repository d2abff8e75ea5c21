import { lstatSync } from "node:fs";
import { join } from "node:path";
import { OWNER_FILE } from "../channel/directories.js";
import { isOrphaned } from "../logs/log-owner.js";
import {
	agentsParent,
	localBases,
	ownEntries,
} from "../node-files/local-agents.js";
import type { FoundRun } from "../status/run-document.js";
import { findKnownAgents } from "./find-agent.js";
import { entriesOf, ownTemporaryLogs } from "./find-logs.js";
import type { BrokenRun, Searcher } from "./found-runs.js";

/** A left-over item. */
export interface StaleItem {
	/** A run in the store, the directory of an agent, or a temporary log directory. */
	readonly kind: "run" | "directory" | "logs";
	/** The run's id, or the directory. */
	readonly name: string;
	/** Why it is no longer used, in words. */
	readonly why: string;
	/** Since when, in milliseconds since 1970; null if unknown. */
	readonly since: number | null;
}

/** Runs without agents: ended ones, and abandoned ones. */
export function staleRuns(runs: readonly FoundRun[]): readonly StaleItem[] {
	return runs.flatMap(({ status }) => {
		const { runId, phase, outcome, nodes, instance, since } = status;
		if (nodes.some(({ pid }) => pid !== null)) return [];
		if (phase !== "ended" && phase !== "abandoned") return [];
		const why =
			outcome === null
				? "it has no agents"
				: `${outcome.result}: ${outcome.reason}`;
		const at = since ?? latestSign(status) ?? instance;
		return [{ kind: "run" as const, name: runId, why, since: at }];
	});
}

/** Runs with unreadable keys and without agents. */
export function staleBroken(
	broken: readonly BrokenRun[],
): readonly StaleItem[] {
	return broken
		.filter(({ isInhabited }) => !isInhabited)
		.map(({ runId }) => ({
			...{ kind: "run" as const, name: runId },
			...{ why: "its keys cannot be read", since: null },
		}));
}

/** The last known time of an abandoned run. */
function latestSign({ lastIncident }: FoundRun["status"]): number | null {
	return lastIncident?.at ?? null;
}

/** Directories of agents that are certainly dead. */
export function staleDirectories({
	host,
	uid,
}: Searcher): readonly StaleItem[] {
	return localBases(host, uid)
		.map((base) => agentsParent(base, uid))
		.flatMap((parent) =>
			ownEntries(parent, uid).map((name) => join(parent, name)),
		)
		.filter((directory) => isOrphaned(directory) === true)
		.map((directory) => ({
			...{ kind: "directory" as const, name: directory },
			...{ why: "its launcher is gone", since: changedAt(directory) },
		}));
}

/**
 * Temporary logs of runs that are known to have ended.
 * @param isAlive whether a run has agents anywhere
 */
export function staleLogs(
	isAlive: (runId: string) => boolean,
	searcher: Searcher,
): readonly StaleItem[] {
	const { host, uid } = searcher;
	const here = findKnownAgents(
		{ runId: undefined, nodeId: undefined },
		searcher,
	);
	const isInUse = (directory: string) =>
		here.some(({ node }) => node.logDirectory.startsWith(`${directory}/`)) ||
		runsIn(directory).some(
			(runId) =>
				isAlive(runId) || here.some(({ node }) => node.runId === runId),
		);
	return ownTemporaryLogs(host.temporaryDirectory, uid)
		.filter((directory) => isOrphaned(directory) === true)
		.filter((directory) => !isInUse(directory))
		.map((directory) => ({
			...{ kind: "logs" as const, name: directory },
			why: `logs of ${runsIn(directory).join(", ")}, whose launcher is gone`,
			since: changedAt(directory),
		}));
}

function runsIn(directory: string): readonly string[] {
	return entriesOf(directory).filter((name) => name !== OWNER_FILE);
}

function changedAt(path: string): number {
	return lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
