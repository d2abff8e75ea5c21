import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import type { Logger } from "../../base/logger.js";
import { formatDuration } from "../../base/units.js";
import type { AgentConfig } from "../../config/index.js";
import { describeShellEnd, runShell } from "../../processes/index.js";
import {
	encodeRecord,
	type PreflightRecord,
	RECORD_VERSION,
	RunKeys,
} from "../../rendezvous/index.js";
import type { Store } from "../../store/index.js";
import { shellEnvironment } from "../workers/worker-environment.js";

/** What of an agent's configuration counts for its preflight. */
export type PreflightSettings = Parameters<typeof shellEnvironment>[0] &
	Pick<AgentConfig, "preflight"> & {
		readonly command: Pick<AgentConfig["command"], "cwd">;
	};

export interface PreflightOptions {
	readonly store: Pick<Store, "transaction">;
	readonly clock: Clock;
	readonly log: Logger;
	/** Ends it at once. */
	readonly stop: AbortSignal;
}

/** Runs the user's command before this node joins; undefined if there is none. Never rejects. */
export async function passPreflight(
	config: PreflightSettings,
	{ clock, log, stop }: PreflightOptions,
): Promise<PreflightRecord | undefined> {
	const { command, timeoutMs } = config.preflight;
	if (command === undefined) return undefined;
	log.info(`preflight: sh -c '${command}'`);
	const begun = clock.now();
	const end = await runShell(
		{
			command,
			timeoutMs,
			stop,
			cwd: config.command.cwd,
			environment: shellEnvironment(config),
			onLine: (line) => log.info(`preflight: ${line}`),
		},
		clock,
	);
	const hasPassed = end.kind === "exited" && end.exitCode === 0;
	const tookMs = clock.now() - begun;
	if (hasPassed) log.info(`preflight: passed in ${formatDuration(tookMs)}`);
	return {
		version: RECORD_VERSION,
		nodeId: config.nodeId,
		verdict: hasPassed ? "passed" : "failed",
		findings: hasPassed
			? []
			: [`${command}: ${describeShellEnd(end, timeoutMs)}`],
		at: clock.wallTime(),
		tookMs,
	};
}

/** Publishes the verdict for people; without the store it is only in the log. */
export async function publishPreflight(
	record: PreflightRecord,
	{ runId }: Pick<AgentConfig, "runId">,
	{ store, log }: Pick<PreflightOptions, "store" | "log">,
): Promise<void> {
	const put = new RunKeys(runId).preflightOf(record.nodeId);
	try {
		await store.transaction([], [{ put, value: encodeRecord(record) }]);
	} catch (error) {
		log.warn(`the preflight's verdict is not in etcd: ${messageOf(error)}`);
	}
}
