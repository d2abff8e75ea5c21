import { pause } from "../base/back-off.js";
import type { Clock } from "../base/clock.js";
import {
	isStillThere,
	requestStop,
	takeBackRequest,
} from "../node-files/index.js";
import {
	informationAt,
	type Outcome,
	RunKeys,
	readRunView,
	SPEC,
	stopRun,
	unseenRiders,
} from "../rendezvous/index.js";
import {
	describeRun,
	type NodeStatus,
	type RunDocument,
} from "../status/index.js";
import type { Snapshot } from "../store/index.js";
import {
	type ReadRun,
	readMirror,
	readRun,
	type Searcher,
} from "./found-runs.js";
import type { RunPlaces } from "./run-request.js";
import { inStore, type OpenedStore } from "./run-store.js";

/** How often to check which agents are left, in milliseconds. */
const LOOK_EVERY_MS = 200;
/** How often to check whether an agent that will soon be gone has answered, in milliseconds. */
const LISTEN_EVERY_MS = 10;
const HEARD_WITHIN_MS = 3_000;
/** How long agents may take if the run's settings are unknown, in milliseconds. */
const UNKNOWN_PATIENCE_MS = 60_000;

interface StopOptions {
	readonly runId: string;
	/** By whom or why it is stopped. */
	readonly reason: string;
	/** How long to wait for agents, in milliseconds; null: as long as the run's own time-outs. */
	readonly timeoutMs: number | null;
	/** Called once it is certain that the run ends, with the present agents and how long to wait for them. */
	readonly onEnded: (
		outcome: Outcome,
		nodes: readonly NodeStatus[],
		timeoutMs: number,
	) => void;
	/** Called with who may work on without the store, and learns of it only when it reaches it. */
	readonly onUnseen: (nodeIds: readonly string[]) => void;
}

/** The JSON of `elastic-run stop`: docs/status.md. */
export interface StopReport {
	readonly version: 1;
	readonly runId: string;
	readonly place: string;
	readonly instance: number;
	/** How the run ended; null if the agent that holds it in memory ended without an answer. */
	readonly outcome: Outcome | null;
	/** It had ended before: the outcome is that of the earlier end. */
	readonly hadEnded: boolean;
	/** The agents that are left after the wait. */
	readonly left: readonly Pick<
		NodeStatus,
		"nodeId" | "state" | "pid" | "address"
	>[];
}

/**
 * Ends a run on all nodes, and waits until none of its agents is left.
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
	const { clock } = searcher;
	return inStore(places.store, clock, (opened) =>
		stopInStore(options, newest, opened, clock),
	);
}

async function stopInStore(
	options: StopOptions,
	{ place, snapshot: before }: ReadRun,
	{ store, again }: OpenedStore,
	clock: Clock,
): Promise<StopReport | undefined> {
	const { runId, reason, onEnded, onUnseen } = options;
	const keys = new RunKeys(runId);
	const read = (known?: Snapshot) =>
		again(() => store.snapshot(keys.present, known));
	const stopped = await again(() => stopRun({ store, keys, clock, reason }));
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
	const spec = informationAt(SPEC, snapshot, keys.spec, () => {});
	const view = readRunView(keys, snapshot);
	const riders = view && spec && unseenRiders(view, spec);
	if (left.length === 0 && riders) onUnseen(riders.names);
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
	known: RunDocument,
	clock: Clock,
): RunDocument {
	const mirror = readMirror(agent);
	return (
		(mirror && describeRun(mirror.runId, mirror.snapshot, clock.wallTime())) ??
		known
	);
}

/** The present agents of one start of a run. */
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

/** Includes the workers' grace period, in which the lease of a lost agent also expires. */
function patienceFor(
	{ timeoutMs }: StopOptions,
	keys: RunKeys,
	snapshot: Snapshot,
): number {
	if (timeoutMs !== null) return timeoutMs;
	const spec = informationAt(SPEC, snapshot, keys.spec, () => {});
	return spec === undefined
		? UNKNOWN_PATIENCE_MS
		: spec.settleTimeoutMs + spec.leaseTtlMs;
}

function inShort({ nodeId, state, pid, address }: NodeStatus) {
	return { nodeId, state, pid, address };
}
