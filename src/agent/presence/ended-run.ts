import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { constants } from "node:os";
import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import type { Logger } from "../../base/logger.js";
import { within } from "../../base/within.js";
import { ownIdentity } from "../../channel/index.js";
import type { AgentConfig } from "../../config/index.js";
import {
	endedRunsDirectory,
	forgetEndedRuns,
	writeEndedRun,
} from "../../node-files/index.js";
import {
	BUDGET,
	type GivenEnd,
	informationAt,
	RunKeys,
	type RunSpec,
	withEnd,
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

/** Higher exit codes are 128 + the signal that ended the launcher. */
const LAST_OF_ITS_OWN = 128;

/** How often a record of a run that goes on is written at most, in milliseconds, … */
const AGAIN_AFTER_MS = 1_000;
/** … and at least: its time is that of the kill, as far as anybody knows. */
const AGAIN_WITHIN_MS = 15_000;

const KILLED = {
	result: "failed",
	exitCode: 128 + constants.signals.SIGKILL,
	reason: "its launcher was killed",
} as const;

/** What this machine will say of a run whose launcher is killed: nobody else knows a run without a store. */
export class KilledRecord {
	private readonly id = randomUUID();
	private file: string | undefined;
	private writtenAt = Number.NEGATIVE_INFINITY;
	private cancelTimer: () => void = () => {};
	private dueAt = Number.POSITIVE_INFINITY;
	private latest: Snapshot | undefined;

	constructor(
		private readonly options: Omit<KeepOptions, "last">,
		private readonly logDirectory: string,
	) {}

	/** Takes the run's newest state. */
	follow(snapshot: Snapshot): void {
		const { clock } = this.options;
		this.latest = snapshot;
		this.writeAt(Math.max(clock.now(), this.writtenAt + AGAIN_AFTER_MS));
	}

	/** The run has ended in order. */
	remove(): void {
		this.cancelTimer();
		if (this.file !== undefined) rmSync(this.file, { force: true });
	}

	private writeAt(at: number): void {
		if (at >= this.dueAt) return;
		this.cancelTimer();
		this.dueAt = at;
		this.cancelTimer = this.options.clock.wakeAt(at, () => {
			this.dueAt = Number.POSITIVE_INFINITY;
			this.write();
			this.writeAt(this.writtenAt + AGAIN_WITHIN_MS);
		});
	}

	private write(): void {
		if (this.latest === undefined) return;
		const { config, clock, log } = this.options;
		const { runId, nodeId, backend } = config;
		const { directory, uid } = recordsOf(this.options);
		const keys = new RunKeys(runId);
		const endedAt = clock.wallTime();
		const before = this.file;
		this.writtenAt = clock.now();
		try {
			const snapshot = withEnd(this.latest, keys, KILLED, endedAt);
			this.file = writeEndedRun(directory, uid, this.id, {
				...{ runId, nodeId, backend, endedAt },
				logDirectory: this.logDirectory,
				launcher: ownIdentity(),
				snapshot: withoutAgents(snapshot, keys),
			});
			if (before !== undefined && before !== this.file) {
				rmSync(before, { force: true });
			}
		} catch (error) {
			log.debug(`no record is kept of this run: ${messageOf(error)}`);
		}
	}
}

function recordsOf({
	config: { environment },
	temporaryDirectory,
}: Pick<KeepOptions, "config" | "temporaryDirectory">) {
	const uid = process.getuid?.() ?? 0;
	const host = { environment, temporaryDirectory };
	return { uid, directory: endedRunsDirectory(host, uid) };
}

/**
 * Keeps the data of `status`, `history` and `logs` on this machine for a week after a run has ended and its store is
 * gone.
 */
export function keepEndedRun(
	report: RunReport,
	options: KeepOptions,
): RunReport {
	const { last, config, clock, log } = options;
	const { runId, nodeId, backend } = config;
	if (!hasEnded(report, config) || last === undefined) return report;
	const { directory, uid } = recordsOf(options);
	const endedAt = clock.wallTime();
	const keys = new RunKeys(runId);
	try {
		forgetEndedRuns(directory, uid, endedAt);
		writeEndedRun(directory, uid, randomUUID(), {
			...{ runId, nodeId, backend, endedAt },
			logDirectory: report.logDir ?? undefined,
			snapshot: withoutAgents(
				withEnd(last, keys, endWithLauncher(report), endedAt),
				keys,
			),
		});
	} catch (error) {
		log.debug(`no record is kept of this run: ${messageOf(error)}`);
	}
	return report;
}

/** How a run has ended that no store keeps: nobody can go on with it. */
function endWithLauncher({ exitCode, reason }: RunReport): GivenEnd {
	const result = exitCode > LAST_OF_ITS_OWN ? "stopped" : "failed";
	return { result, exitCode, reason };
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
