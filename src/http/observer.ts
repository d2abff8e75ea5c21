import { setMaxListeners } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Cleanups } from "../base/cleanups.js";
import type { Clock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import type { AgentConfig } from "../config/index.js";
import type { LogDirectory } from "../logs/index.js";
import type { HangKind } from "../model/index.js";
import { type RoundRecord, RunKeys } from "../rendezvous/index.js";
import {
	describeGoodput,
	describeHistory,
	describeRun,
	type Goodput,
	lastFailureOf,
	type NodeDocument,
	type NodeNow,
	type RunDocument,
	type RunHistory,
	readAccounts,
	timelineOf,
} from "../status/index.js";
import type { Snapshot, Store } from "../store/index.js";
import type { MetricSources } from "./metric-values.js";
import { RunReader } from "./run-reader.js";
import type { StatusDocument } from "./status-document.js";
import { WorkerLines } from "./worker-lines.js";

const NOT_JOINED = "this agent has not joined its run yet";

/** The state of a run at one read; unknown parts are undefined. */
interface Reading {
	readonly run: RunDocument | undefined;
	readonly history: RunHistory | undefined;
	readonly goodput: Goodput | undefined;
	readonly problem: string | null;
	readonly latencyMs: number | null;
}

/** Nothing could be read. */
function nothing(problem: string): Reading {
	const unknown = { run: undefined, history: undefined, goodput: undefined };
	return { ...unknown, problem, latencyMs: null };
}

/** A run that the agent takes part in. */
export interface JoinedRun {
	readonly config: Pick<
		AgentConfig,
		"runId" | "nodeId" | "backend" | "endpoints"
	>;
	readonly store: Store;
	readonly place: { readonly cleanups: Cleanups };
}

interface ObservedRun extends Pick<JoinedRun, "config" | "store"> {
	readonly reader: RunReader;
	/** Where the run's state is stored: the store's endpoints, or the agent's directory. */
	readonly place: string;
}

export interface ObserverOptions {
	readonly config: Pick<
		AgentConfig,
		"runId" | "nodeId" | "role" | "policyId" | "http"
	>;
	/** Its timers must let the process end. */
	readonly clock: Clock;
	/** What the agent knows of its node. */
	readonly node: () => NodeNow;
}

/** Knows the state of an agent and its run. It reads everything on request. */
export class Observer {
	private readonly lines = new WorkerLines();
	private readonly goodputs = new GoodputCache();
	private observed: ObservedRun | undefined;
	private readonly hangs = new Map<HangKind, number>();
	private readonly end = new AbortController();
	/** Aborted when the agent's part in its run is over: soon no request is possible. */
	readonly ended: AbortSignal = this.end.signal;

	constructor(private readonly options: ObserverOptions) {
		// As many listeners as connections are normal, not a leak.
		setMaxListeners(0, this.ended);
	}

	get name(): Pick<AgentConfig, "runId" | "nodeId"> {
		const { runId, nodeId } = this.observed?.config ?? this.options.config;
		return { runId, nodeId };
	}

	/** The run that the agent has joined; undefined before. */
	get run(): Pick<JoinedRun, "config" | "store"> | undefined {
		return this.observed;
	}

	/** Call it when the agent has joined the run. @param directory where it keeps the state of a run without a store */
	joined(
		{ config, store, place: { cleanups } }: JoinedRun,
		directory: string,
	): void {
		const { clock } = this.options;
		const { prefix } = new RunKeys(config.runId);
		const reader = new RunReader({ store, clock, prefix });
		cleanups.add("closing the reader of the run", () => reader.close());
		const isLocal = config.backend === "memory";
		const place = isLocal ? directory : config.endpoints.join(",");
		this.observed = { config, store, reader, place };
	}

	/** The same directory; the workers' last lines become available. */
	noting(logs: LogDirectory): LogDirectory {
		return this.lines.noting(logs);
	}

	/** Call it when the agent's part in its run is over. */
	close(): void {
		this.end.abort();
	}

	hung(kind: HangKind): void {
		this.hangs.set(kind, (this.hangs.get(kind) ?? 0) + 1);
	}

	readiness(): NodeNow["readiness"] {
		return this.options.node().readiness;
	}

	async status(): Promise<StatusDocument> {
		const reading = await this.read();
		const { clock, config } = this.options;
		const { phase, since, waitsFor, links, ...node } = this.options.node();
		const workers = await this.withLines(node.workers);
		const at = clock.wallTime();
		const { run, history, problem } = reading;
		const place = this.observed?.place ?? "";
		return {
			version: 1,
			at,
			control: config.http?.token !== undefined,
			problem,
			run: run ? { ...run, place } : null,
			node: {
				nodeId: this.name.nodeId,
				pid: process.pid,
				...{ phase, since, waitsFor, workers, links },
			},
			...this.failedLines(run),
			history: history ? { ...history, place } : null,
			timeline: timelineOf(run, history) ?? null,
			ledger: reading.goodput?.ledger ?? null,
		};
	}

	async metricSources(): Promise<MetricSources> {
		const { run, history, goodput, latencyMs } = await this.read();
		const { config, clock } = this.options;
		return {
			node: this.options.node(),
			nodeId: this.name.nodeId,
			wallTime: clock.wallTime(),
			role: config.role,
			policy: config.policyId,
			run,
			history: history?.instances.find(
				({ instance }) => instance === run?.instance,
			),
			goodput,
			latencyMs,
			hangs: this.hangs,
		};
	}

	private async read(): Promise<Reading> {
		const { observed } = this;
		if (observed === undefined) return nothing(NOT_JOINED);
		const { snapshot, problem, latencyMs } = await observed.reader.read();
		if (snapshot === undefined) return nothing(problem ?? NOT_JOINED);
		const { runId } = observed.config;
		const wallTime = this.options.clock.wallTime();
		try {
			const read = describeRun(runId, snapshot, wallTime);
			const run = read && asEnded(read, this.options.node().round);
			const history = describeHistory(runId, snapshot, wallTime);
			const goodput =
				run && history && this.goodputs.of(run, history, snapshot, wallTime);
			return { run, history, goodput, problem, latencyMs };
		} catch (error) {
			return nothing(messageOf(error));
		}
	}

	private failedLines(
		run: RunDocument | undefined,
	): Pick<StatusDocument, "failedLines"> {
		const root = lastFailureOf(run);
		if (root === undefined || root.nodeId !== this.name.nodeId) return {};
		return { failedLines: this.lines.inRound(root.localRank, root.round) };
	}

	private async withLines(
		own: NodeNow["workers"],
	): Promise<NodeDocument["workers"]> {
		const { role } = this.options.config;
		const workers: NodeDocument["workers"][number][] = [];
		// One after the other, so that a thousand files are not read at once.
		for (const worker of own) {
			await nextTurn();
			const lastLines = this.lines.of(worker.localRank);
			workers.push({ ...worker, role, lastLines });
		}
		return workers;
	}
}

/** The run as last read, with the outcome that the agent has heard of since: after its end an agent no longer reads its store. */
export function asEnded(
	run: RunDocument,
	round: RoundRecord | null,
): RunDocument {
	if (run.outcome !== null || round?.instance !== run.instance) return run;
	const { outcome } = round;
	if (outcome === null) return run;
	const since = outcome.endedAt ?? null;
	return { ...run, phase: "ended", since, outcome, waiting: null };
}

/** Of a large run it takes some time, and a page asks each second: it is computed at most this often, in milliseconds. */
const EVERY_MS = 2_000;

/** Keeps the goodput of a run for a while, and until its end is known. */
class GoodputCache {
	private last: { readonly at: number; readonly value: Goodput } | undefined;

	/** @param wallTime milliseconds since 1970 */
	of(
		run: RunDocument,
		history: RunHistory,
		snapshot: Snapshot,
		wallTime: number,
	): Goodput {
		const hasEnded = run.outcome !== null;
		if (
			this.last !== undefined &&
			Math.abs(wallTime - this.last.at) < EVERY_MS &&
			hasEnded === (this.last.value.endedAt !== null)
		) {
			return this.last.value;
		}
		const accounts = readAccounts(run, history, snapshot, wallTime);
		const value = describeGoodput(accounts);
		this.last = { at: wallTime, value };
		return value;
	}
}
