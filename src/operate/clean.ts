import { lstatSync } from "node:fs";
import { join } from "node:path";
import { messageOf, systemErrorCode } from "../base/errors.js";
import { OWNER_FILE, removeDirectory, removeTree } from "../channel/index.js";
import { isOrphaned } from "../logs/index.js";
import {
	agentsParent,
	endedRunsDirectory,
	forgetEndedRuns,
	localBases,
	ownEntries,
} from "../node-files/index.js";
import { deleteRun, openStore, RunKeys } from "../rendezvous/index.js";
import type { FoundRun } from "../status/index.js";
import type { Store } from "../store/index.js";
import { findKnownAgents } from "./find-agent.js";
import { entriesOf, ownTemporaryLogs } from "./find-logs.js";
import type { BrokenRun } from "./found-runs.js";
import { findStoredRuns, type Searcher } from "./found-runs.js";
import type { RunPlaces } from "./run-request.js";

interface CleanOptions {
	/** Only items of this run; undefined: all. */
	readonly runId: string | undefined;
	/** Younger items are left out, in milliseconds. */
	readonly olderThanMs: number;
	/** Temporary logs as well. */
	readonly withLogs: boolean;
	/** Removes what it finds. */
	readonly removes: boolean;
	readonly warn: (message: string) => void;
}

/** The result for one item; `removed` is null if nothing was to be removed. */
export interface CleanedItem extends StaleItem {
	readonly removed: boolean | null;
	/** Why it could not be removed. */
	readonly problem: string | null;
}

export interface CleanReport {
	readonly items: readonly CleanedItem[];
	/** How many more there would be without `olderThanMs`. */
	readonly younger: number;
	/** How many temporary log directories there are besides, which were not asked for. */
	readonly logs: number;
}

/**
 * Finds left-over files and runs, and removes them if asked.
 * @throws ElasticRunError STORE_UNREACHABLE
 */
export async function clean(
	options: CleanOptions,
	places: RunPlaces,
	searcher: Searcher,
): Promise<CleanReport> {
	const { runId, olderThanMs, withLogs, removes, warn } = options;
	const stored = await findStoredRuns(runId, places, searcher, warn);
	const { runs, broken } = stored ?? { runs: [], broken: [] };
	const isAlive = (name: string) =>
		runs.some(
			({ status }) =>
				status.runId === name && status.nodes.some(({ pid }) => pid !== null),
		) || broken.some((run) => run.runId === name && run.isInhabited);
	const latest = searcher.clock.wallTime() - olderThanMs;
	const isAsked = (item: StaleItem) => runId === undefined || isOf(item, runId);
	const logs = staleLogs(isAlive, searcher).filter(isAsked);
	const all = [
		...staleRuns(runs),
		...staleBroken(broken),
		...staleDirectories(searcher),
	].filter(isAsked);
	if (withLogs) all.push(...logs);
	const found = all.filter(({ since }) => (since ?? 0) <= latest);
	const { host, uid, clock } = searcher;
	if (removes) {
		forgetEndedRuns(endedRunsDirectory(host, uid), uid, clock.wallTime());
	}
	const items = removes
		? await removeAll(found, places, searcher)
		: found.map((item) => ({ ...item, removed: null, problem: null }));
	const younger = all.length - found.length;
	return { items, younger, logs: withLogs ? 0 : logs.length };
}

/** An agent's directory name begins with its run's name; a log directory's explanation contains it. */
function isOf({ kind, name, why }: StaleItem, runId: string): boolean {
	switch (kind) {
		case "run":
			return name === runId;
		case "directory":
			return name.includes(`/${runId}.`);
		case "logs":
			return why.startsWith(`logs of ${runId}, whose`);
		default:
			return kind satisfies never;
	}
}

async function removeAll(
	items: readonly StaleItem[],
	{ store: config }: RunPlaces,
	{ clock }: Searcher,
): Promise<readonly CleanedItem[]> {
	const hasRuns = items.some(({ kind }) => kind === "run");
	const random = () => 0;
	const store =
		hasRuns && config ? await openStore(config, { clock, random }) : undefined;
	const cleaned: CleanedItem[] = [];
	try {
		for (const item of items) {
			const problem = await remove(item, store);
			cleaned.push({ ...item, removed: problem === null, problem });
		}
	} finally {
		await store?.close();
	}
	return cleaned;
}

/** An item that came into use since it was found stays. Resolves with why it was not removed, or with null. */
async function remove(
	{ kind, name }: StaleItem,
	store: Store | undefined,
): Promise<string | null> {
	const inUse = "it is in use again";
	try {
		if (kind === "run") {
			const isGone = store && (await deleteRun(store, new RunKeys(name)));
			return isGone ? null : inUse;
		}
		if (kind === "directory") {
			removeDirectory(name, (moved) => isOrphaned(moved) === true);
			return null;
		}
		if (isOrphaned(name) !== true) return inUse;
		removeTree(name);
		return null;
	} catch (error) {
		// Another process has removed it.
		return systemErrorCode(error) === "ENOENT" ? null : messageOf(error);
	}
}

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
function staleBroken(broken: readonly BrokenRun[]): readonly StaleItem[] {
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
function staleDirectories({ host, uid }: Searcher): readonly StaleItem[] {
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
function staleLogs(
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
