import type { Clock } from "../../clock.js";
import { pause, retry } from "../../rendezvous/back-off.js";
import { describeRun } from "../../rendezvous/describe-run.js";
import { RunKeys } from "../../rendezvous/keys.js";
import { decodeRecord } from "../../rendezvous/record-codec.js";
import type { Outcome, RunSpec } from "../../rendezvous/records.js";
import type { NodeStatus, RunStatus } from "../../rendezvous/run-status.js";
import { readRunView } from "../../rendezvous/run-view.js";
import { stopRun } from "../../rendezvous/stop-run.js";
import type { Snapshot, Store } from "../../rendezvous/store.js";
import { openStore } from "../open-store.js";
import {
	PATIENCE_MS,
	type ReadRun,
	readRun,
	type Searcher,
} from "../status/find-runs.js";
import { isStillThere } from "../status/local-agents.js";
import { readMirror } from "../status/local-runs.js";
import type { RunPlaces } from "../status/run-request.js";
import { requestStop, takeBackRequest } from "../status/stop-request.js";

/** How often it is looked who is left, in milliseconds. */
const LOOK_EVERY_MS = 200;
/** How often it is looked whether an agent that will soon be gone has heard of it, in milliseconds. */
const LISTEN_EVERY_MS = 10;
const HEARD_WITHIN_MS = 3_000;
/** How long agents may take of whose run the settings are not known, in milliseconds. */
const UNKNOWN_PATIENCE_MS = 60_000;

export interface StopOptions {
	readonly runId: string;
	/** Who ends it, in words. */
	readonly reason: string;
	/** How long agents are waited for, in milliseconds; null: as long as the run's own time-outs give them. */
	readonly timeoutMs: number | null;
	/** Told once it is certain that the run ends, with who is there and for how long they are waited for. */
	readonly onEnded: (
		outcome: Outcome,
		nodes: readonly NodeStatus[],
		timeoutMs: number,
	) => void;
}

/** What `elastic-run stop` prints as JSON: docs/operating.md. */
export interface StopReport {
	readonly version: 1;
	readonly runId: string;
	readonly place: string;
	readonly instance: number;
	/** How the run ended; null where the agent that has it in its memory said nothing of it before it went. */
	readonly outcome: Outcome | null;
	/** It had ended before: this outcome is another's. */
	readonly hadEnded: boolean;
	/** The agents that are left: it took them longer than was waited. */
	readonly left: readonly Pick<
		NodeStatus,
		"nodeId" | "state" | "pid" | "address"
	>[];
}

/**
 * Ends a run everywhere, and waits until none of its agents is left.
 * @throws ElasticRunError STORE_UNREACHABLE
 */
export async function stopFoundRun(
	options: StopOptions,
	places: RunPlaces,
	searcher: Searcher,
): Promise<StopReport | undefined> {
	const [newest] = await readRun(options.runId, places, searcher);
	if (newest === undefined) return undefined;
	if (newest.local !== undefined) {
		return stopLocal(options, newest, newest.local, searcher.clock);
	}
	if (places.store === undefined) return undefined;
	const random = () => 0;
	const store = await openStore(places.store, { ...searcher, random });
	try {
		return await stopInStore(options, newest, store, searcher.clock);
	} finally {
		await store.close();
	}
}

async function stopInStore(
	options: StopOptions,
	{ place, snapshot: before }: ReadRun,
	store: Store,
	clock: Clock,
): Promise<StopReport | undefined> {
	const { runId, reason, onEnded } = options;
	const keys = new RunKeys(runId);
	const withPatience = <Value>(attempt: () => Promise<Value>) =>
		retry(
			{ clock, random: () => 0, until: clock.now() + PATIENCE_MS },
			attempt,
		);
	const read = (known?: Snapshot) =>
		withPatience(() => store.snapshot(keys.present, known));
	const stopped = await withPatience(() =>
		stopRun({ store, keys, clock, reason }),
	);
	if (stopped === undefined) return undefined;
	const { instance, outcome } = stopped;
	let snapshot = await read();
	const timeoutMs = patienceFor(options, keys, snapshot);
	let left = membersOf(runId, snapshot, instance, clock);
	onEnded(outcome, left, timeoutMs);
	const until = clock.now() + timeoutMs;
	while (left.length > 0 && clock.now() < until) {
		await pause(clock, LOOK_EVERY_MS);
		snapshot = await read(snapshot);
		left = membersOf(runId, snapshot, instance, clock);
	}
	return {
		...{ version: 1, runId, place, instance, outcome },
		hadEnded: readRunView(keys, before)?.round.outcome != null,
		left: left.map(inShort),
	};
}

/** The agent itself writes the outcome: the run is in its memory. */
async function stopLocal(
	options: StopOptions,
	{ place, snapshot }: ReadRun,
	agent: NonNullable<ReadRun["local"]>,
	clock: Clock,
): Promise<StopReport | undefined> {
	const { runId, reason, onEnded } = options;
	const timeoutMs = patienceFor(options, new RunKeys(runId), snapshot);
	let status = describeRun(runId, snapshot, clock.wallTime());
	if (status === undefined) return undefined;
	const { instance } = status;
	const hadEnded = status.outcome !== null;
	if (!hadEnded) requestStop(agent.directory, reason);
	const until = clock.now() + Math.max(timeoutMs, HEARD_WITHIN_MS);
	let isTold = false;
	while (isStillThere(agent) && clock.now() < until) {
		status = newer(agent, status, clock);
		if (status.outcome !== null && !isTold) {
			isTold = true;
			takeBackRequest(agent.directory);
			onEnded(status.outcome, status.nodes, timeoutMs);
		}
		if (isTold && timeoutMs === 0) break;
		await pause(clock, isTold ? LOOK_EVERY_MS : LISTEN_EVERY_MS);
	}
	return {
		...{ version: 1, runId, place, instance, hadEnded },
		outcome: status.outcome,
		left: isStillThere(agent) ? status.nodes.map(inShort) : [],
	};
}

function newer(
	agent: NonNullable<ReadRun["local"]>,
	known: RunStatus,
	clock: Clock,
): RunStatus {
	const mirror = readMirror(agent);
	return (
		(mirror && describeRun(mirror.runId, mirror.snapshot, clock.wallTime())) ??
		known
	);
}

/** The agents of one start of a run that are there. */
function membersOf(
	runId: string,
	snapshot: Snapshot,
	instance: number,
	clock: Clock,
): readonly NodeStatus[] {
	const status = describeRun(runId, snapshot, clock.wallTime());
	return status?.instance === instance
		? status.nodes.filter(({ pid }) => pid !== null)
		: [];
}

/** Workers have their time to end, and the lease of an agent that was lost lapses meanwhile. */
function patienceFor(
	{ timeoutMs }: StopOptions,
	keys: RunKeys,
	{ entries }: Snapshot,
): number {
	if (timeoutMs !== null) return timeoutMs;
	const entry = entries.get(keys.spec);
	if (entry === undefined) return UNKNOWN_PATIENCE_MS;
	const { settleTimeoutMs, leaseTtlMs } = decodeRecord<RunSpec>(entry);
	return settleTimeoutMs + leaseTtlMs;
}

function inShort({ nodeId, state, pid, address }: NodeStatus) {
	return { nodeId, state, pid, address };
}
