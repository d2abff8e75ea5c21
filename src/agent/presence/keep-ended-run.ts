import { randomUUID } from "node:crypto";
import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import type { Logger } from "../../base/logger.js";
import type { AgentConfig } from "../../config/agent-config.js";
import {
	endedRunsDirectory,
	forgetEndedRuns,
	writeEndedRun,
} from "../../node-files/ended-runs.js";
import { RunKeys } from "../../rendezvous/records/keys.js";
import type { Snapshot } from "../../rendezvous/store/store.js";
import type { RunReport } from "../../status/report.js";
import { hasEnded } from "./last-look.js";

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
