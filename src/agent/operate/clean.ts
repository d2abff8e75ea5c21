import { rmSync } from "node:fs";
import { removeDirectory } from "../../channel/remove-directory.js";
import { messageOf, systemErrorCode } from "../../errors.js";
import { deleteRun } from "../../rendezvous/delete-run.js";
import { RunKeys } from "../../rendezvous/keys.js";
import type { Store } from "../../rendezvous/store.js";
import { isOrphaned } from "../logs/log-owner.js";
import { openStore } from "../open-store.js";
import { findStoredRuns, type Searcher } from "../status/find-runs.js";
import type { RunPlaces } from "../status/run-request.js";
import {
	type StaleItem,
	staleDirectories,
	staleLogs,
	staleRuns,
} from "./find-stale.js";

export interface CleanOptions {
	/** Only what belongs to this run; undefined: everything. */
	readonly runId: string | undefined;
	/** What is younger is left out, in milliseconds. */
	readonly olderThanMs: number;
	/** Temporary logs as well. */
	readonly withLogs: boolean;
	/** Removes what it finds. */
	readonly removes: boolean;
	readonly warn: (message: string) => void;
}

/** What became of it: `removed` null where nothing was to be removed. */
export interface CleanedItem extends StaleItem {
	readonly removed: boolean | null;
	/** Why it could not be removed. */
	readonly problem: string | null;
}

export interface CleanReport {
	readonly items: readonly CleanedItem[];
	/** How many more there would be, but for `olderThanMs`. */
	readonly younger: number;
}

/**
 * Finds what nobody uses any more, and removes it where that is asked for.
 * @throws ElasticRunError STORE_UNREACHABLE
 */
export async function clean(
	options: CleanOptions,
	places: RunPlaces,
	searcher: Searcher,
): Promise<CleanReport> {
	const { runId, olderThanMs, withLogs, removes, warn } = options;
	const runs = (await findStoredRuns(runId, places, searcher, warn)) ?? [];
	const isAlive = (name: string) =>
		runs.some(
			({ status }) =>
				status.runId === name && status.nodes.some(({ pid }) => pid !== null),
		);
	const latest = searcher.clock.wallTime() - olderThanMs;
	const all = [
		...staleRuns(runs),
		...staleDirectories(searcher),
		...(withLogs ? staleLogs(isAlive, searcher) : []),
	].filter((item) => runId === undefined || isOf(item, runId));
	const found = all.filter(({ since }) => since <= latest);
	const items = removes
		? await removeAll(found, places, searcher)
		: found.map((item) => ({ ...item, removed: null, problem: null }));
	return { items, younger: all.length - found.length };
}

/** A directory of agents begins with its run's name, and one of logs has it in it. */
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

/** What has come to life since it was found stays. Resolves with why, or with null. */
async function remove(
	{ kind, name }: StaleItem,
	store: Store | undefined,
): Promise<string | null> {
	const inUse = "somebody uses it again";
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
		rmSync(name, { recursive: true });
		return null;
	} catch (error) {
		// Another one has removed it.
		return systemErrorCode(error) === "ENOENT" ? null : messageOf(error);
	}
}
