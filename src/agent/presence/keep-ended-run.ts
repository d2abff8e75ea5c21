import { randomUUID } from "node:crypto";
import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import type { Logger } from "../../base/logger.js";
import { within } from "../../base/within.js";
import type { AgentConfig } from "../../config/agent-config.js";
import { RunKeys } from "../../rendezvous/records/keys.js";
import type { Snapshot, Store } from "../../rendezvous/store/store.js";
import type { RunReport } from "../../report/run-report.js";
import {
	endedRunsDirectory,
	forgetEndedRuns,
	writeEndedRun,
} from "./ended-runs.js";

/** How long the end waits for a store that may be unreachable, in milliseconds. */
const WITHIN_MS = 1_000;

export interface KeepOptions {
	readonly store: Pick<Store, "snapshot">;
	readonly config: AgentConfig;
	readonly clock: Clock;
	readonly log: Logger;
	readonly temporaryDirectory: string;
}

/**
 * Keeps the data of `status`, `history` and `logs` on this machine for a week after a run has ended and its store is
 * gone. If this node has left, the run of the other nodes continues.
 */
export async function keepEndedRun(
	report: RunReport,
	{ store, config, clock, log, temporaryDirectory }: KeepOptions,
): Promise<RunReport> {
	const { runId, nodeId, backend, environment } = config;
	if (report.outcome === "left" && backend !== "memory") return report;
	const uid = process.getuid?.() ?? 0;
	const directory = endedRunsDirectory(
		{ environment, temporaryDirectory },
		uid,
	);
	const endedAt = clock.wallTime();
	const keys = new RunKeys(runId);
	try {
		const snapshot = await within(
			clock,
			WITHIN_MS,
			store.snapshot([keys.prefix]),
		);
		if (snapshot === undefined) return report;
		forgetEndedRuns(directory, uid, endedAt);
		writeEndedRun(directory, uid, randomUUID(), {
			...{ runId, nodeId, backend, endedAt },
			logDirectory: report.logDir ?? undefined,
			snapshot: withoutAgents(snapshot, keys),
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
