import { randomUUID } from "node:crypto";
import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import type { Logger } from "../../base/logger.js";
import { within } from "../../base/within.js";
import type { AgentConfig } from "../../config/index.js";
import {
	endedRunsDirectory,
	forgetEndedRuns,
	writeEndedRun,
} from "../../node-files/index.js";
import {
	BUDGET,
	informationAt,
	RunKeys,
	type RunSpec,
} from "../../rendezvous/index.js";
import {
	ownBudget,
	type RestartBudget,
	type RunReport,
} from "../../status/index.js";
import type { Snapshot, Store } from "../../store/index.js";
import type { Ending } from "../machine/state.js";

/** How long the end waits for a store that may be unreachable, in milliseconds. */
const WITHIN_MS = 1_000;

export interface LastLookOptions {
	readonly store: Pick<Store, "snapshot">;
	readonly config: Pick<AgentConfig, "runId" | "nodeId" | "backend">;
	readonly clock: Clock;
	readonly log: Pick<Logger, "debug">;
}

/** If this node has left, the run of the other nodes continues. */
function hasEnded(
	{ outcome }: Pick<Ending, "outcome">,
	{ backend }: Pick<AgentConfig, "backend">,
): boolean {
	return outcome !== "left" || backend === "memory";
}

/**
 * What the store says of a run that this agent has left; undefined if it does not answer in time. Of a run that goes on,
 * only what this node has paid is read.
 */
export async function lastLook(
	ending: Pick<Ending, "outcome">,
	{ store, config, clock, log }: LastLookOptions,
): Promise<Snapshot | undefined> {
	const keys = new RunKeys(config.runId);
	const { nodeId } = config;
	const own = [keys.budget(nodeId), keys.replacedNode(nodeId)];
	const wanted = hasEnded(ending, config) ? [keys.prefix] : own;
	try {
		return await within(clock, WITHIN_MS, store.snapshot(wanted));
	} catch (error) {
		log.debug(`the run's last state could not be read: ${messageOf(error)}`);
		return undefined;
	}
}

/**
 * What is left for this node and its workers; null if they have no budget, or it is not known: once the node is replaced,
 * nobody keeps what it has used up.
 */
export function budgetAtEnd(
	last: Snapshot | undefined,
	{ runId, nodeId }: Pick<AgentConfig, "runId" | "nodeId">,
	spec: RunSpec,
	wallTime: number,
): RestartBudget | null {
	if (last === undefined) return null;
	const keys = new RunKeys(runId);
	const key = keys.budget(nodeId);
	const { entries } = last;
	if (!entries.has(key) && entries.has(keys.replacedNode(nodeId))) return null;
	const record = informationAt(BUDGET, last, key, () => {});
	return ownBudget(record, spec, wallTime);
}

export interface KeepOptions {
	/** As the store had it at the end; undefined if that is not known. */
	readonly last: Snapshot | undefined;
	readonly config: AgentConfig;
	readonly clock: Clock;
	readonly log: Logger;
	readonly temporaryDirectory: string;
}

/**
 * Keeps the data of `status`, `history` and `logs` on this machine for a week after a run has ended and its store is
 * gone.
 */
export function keepEndedRun(
	report: RunReport,
	{ last, config, clock, log, temporaryDirectory }: KeepOptions,
): RunReport {
	const { runId, nodeId, backend, environment } = config;
	if (!hasEnded(report, config) || last === undefined) return report;
	const uid = process.getuid?.() ?? 0;
	const directory = endedRunsDirectory(
		{ environment, temporaryDirectory },
		uid,
	);
	const endedAt = clock.wallTime();
	const keys = new RunKeys(runId);
	try {
		forgetEndedRuns(directory, uid, endedAt);
		writeEndedRun(directory, uid, randomUUID(), {
			...{ runId, nodeId, backend, endedAt },
			logDirectory: report.logDir ?? undefined,
			snapshot: withoutAgents(last, keys),
		});
	} catch (error) {
		log.debug(`no record is kept of this run: ${messageOf(error)}`);
	}
	return report;
}

/** The present agents end with the run. */
function withoutAgents({ revision, entries }: Snapshot, keys: RunKeys) {
	const isOfAgent = (key: string) =>
		key.startsWith(keys.nodes) ||
		key === keys.coordinator ||
		key === keys.waiting;
	const kept = [...entries].filter(([key]) => !isOfAgent(key));
	return { revision, entries: new Map(kept) };
}
