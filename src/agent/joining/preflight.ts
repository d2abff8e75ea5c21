import { dirname } from "node:path";
import { isUnreachable } from "../../base/back-off.js";
import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import type { Logger } from "../../base/logger.js";
import { formatDuration } from "../../base/units.js";
import type { AgentConfig } from "../../config/agent-config.js";
import { exists } from "../../logs/latest-link.js";
import { judgeNode } from "../../preflight/judge-node.js";
import { RunKeys } from "../../rendezvous/records/keys.js";
import {
	type NodeSpeeds,
	PREFLIGHT,
	type PreflightRecord,
} from "../../rendezvous/records/preflight-record.js";
import {
	encodeRecord,
	informationAt,
} from "../../rendezvous/records/record-codec.js";
import {
	type NodeRecord,
	RECORD_VERSION,
} from "../../rendezvous/records/records.js";
import { decodeNode } from "../../rendezvous/records/run-view.js";
import type { Snapshot, Store } from "../../rendezvous/store/store.js";
import { describeShellEnd, runShell } from "../../supervision/shell-command.js";
import { shellEnvironment } from "../workers/shell-environment.js";

/** What of an agent's configuration counts for its preflight. */
export type PreflightSettings = Parameters<typeof shellEnvironment>[0] &
	Pick<AgentConfig, "preflight" | "logDir" | "endpoints" | "credentials"> & {
		readonly command: Pick<AgentConfig["command"], "cwd">;
	};

export interface PreflightOptions {
	readonly store: Pick<Store, "snapshot" | "transaction">;
	readonly clock: Clock;
	readonly log: Logger;
	/** Names this process. */
	readonly incarnation: string;
	readonly temporaryDirectory: string;
	/** Ends it at once. */
	readonly stop: AbortSignal;
}

/** Examines this node before it joins; undefined if nothing was asked for. Rejects with STORE_UNREACHABLE only. */
export async function passPreflight(
	config: PreflightSettings,
	options: PreflightOptions,
): Promise<PreflightRecord | undefined> {
	const { command, mode } = config.preflight;
	if (command === undefined && mode === "off") return undefined;
	const { clock, log } = options;
	const begun = clock.now();
	const problem = await runCommand(config, options);
	const measured =
		problem === undefined && mode !== "off" && !options.stop.aborted
			? await examine(config, options)
			: undefined;
	const findings = [
		...(problem === undefined ? [] : [problem]),
		...(measured?.findings ?? []),
	];
	const isKeptOut =
		problem !== undefined || (mode === "strict" && findings.length > 0);
	const tookMs = clock.now() - begun;
	if (findings.length === 0) {
		log.info(`preflight: passed in ${formatDuration(tookMs)}`);
	} else if (!isKeptOut) {
		for (const finding of findings) log.warn(`preflight: ${finding}`);
	}
	return {
		version: RECORD_VERSION,
		nodeId: config.nodeId,
		verdict: isKeptOut ? "failed" : findings.length > 0 ? "warned" : "passed",
		findings,
		at: clock.wallTime(),
		tookMs,
		...(measured && { speeds: measured.speeds }),
	};
}

/** Tells users and later nodes; without the store they are not told. */
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

/** What is wrong; undefined if it succeeded, or there is none. */
async function runCommand(
	config: PreflightSettings,
	{ clock, log, stop }: PreflightOptions,
): Promise<string | undefined> {
	const { command, timeoutMs } = config.preflight;
	if (command === undefined) return undefined;
	log.info(`preflight: sh -c '${command}'`);
	const end = await runShell(
		{
			...{ command, timeoutMs, stop },
			cwd: config.command.cwd,
			environment: shellEnvironment(config),
			onLine: (line) => log.info(`preflight: ${line}`),
		},
		clock,
	);
	if (end.kind === "exited" && end.exitCode === 0) return undefined;
	return `${command}: ${describeShellEnd(end, timeoutMs)}`;
}

async function examine(
	config: PreflightSettings,
	{ store, clock, log, incarnation, temporaryDirectory }: PreflightOptions,
): Promise<{
	readonly speeds: NodeSpeeds;
	readonly findings: readonly string[];
}> {
	const keys = new RunKeys(config.runId);
	const seen = await look(store, keys, log);
	const peers = below(seen, keys.nodes, decodeNode).filter(
		({ nodeId }: NodeRecord) => nodeId !== config.nodeId,
	);
	const others = below(seen, keys.preflights, ({ key }) =>
		informationAt(PREFLIGHT, seen, key, (words) => log.warn(words)),
	).flatMap((record) =>
		record === undefined || record.nodeId === config.nodeId
			? []
			: (record.speeds ?? []),
	);
	const { measureNode } = await import("../../preflight/measure-node.js");
	const measures = await measureNode({
		...{ clock, incarnation, peers, store: config },
		directory: nearest(config.logDir ?? temporaryDirectory),
	});
	return { speeds: measures.speeds, findings: judgeNode(measures, others) };
}

/** The comparison is missing if the store does not answer now. */
async function look(
	store: PreflightOptions["store"],
	keys: RunKeys,
	log: Logger,
): Promise<Snapshot> {
	try {
		return await store.snapshot([keys.nodes, keys.preflights]);
	} catch (error) {
		if (!isUnreachable(error)) throw error;
		log.warn(`preflight: not compared with others: ${messageOf(error)}`);
		return { revision: 0, entries: new Map() };
	}
}

function below<Value>(
	{ entries }: Snapshot,
	prefix: string,
	read: (entry: NonNullable<ReturnType<Snapshot["entries"]["get"]>>) => Value,
): readonly Value[] {
	return [...entries.values()]
		.filter(({ key }) => key.startsWith(prefix))
		.map(read);
}

/** The log directory need not exist yet. */
function nearest(directory: string): string {
	const parent = dirname(directory);
	return exists(directory) || parent === directory
		? directory
		: nearest(parent);
}
