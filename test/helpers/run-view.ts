import type { FailureRecord } from "../../src/rendezvous/records/failure.js";
import type { HistoryRecord } from "../../src/rendezvous/records/history-record.js";
import type {
	NodeFailure,
	NodeRecord,
	RoundRecord,
	Seat,
	SeatRecord,
	World,
} from "../../src/rendezvous/records/records.js";
import type {
	NodeView,
	RunView,
} from "../../src/rendezvous/records/run-view.js";
import type { WaitingRecord } from "../../src/rendezvous/records/waiting-record.js";

/** Of two nodes with two workers each. */
export const WORLD: World = {
	worldSize: 4,
	groupWorldSize: 2,
	roleWorldSizes: { default: 4 },
	masterAddr: "10.0.0.1",
	masterPort: 4000,
};

/** A round record of a run that has just begun, changed as given. */
export function roundRecord(change: Partial<RoundRecord> = {}): RoundRecord {
	return {
		version: 1,
		instance: 1,
		synced: 0,
		deprecated: 0,
		planId: null,
		seats: 0,
		cause: { kind: "start", changeEvent: null, reason: "start", root: null },
		incidents: 0,
		charged: 0,
		accounted: [],
		world: null,
		outcome: null,
		...change,
	};
}

export function nodeRecord(
	nodeId: string,
	change: Partial<NodeRecord> = {},
): NodeRecord {
	return {
		version: 1,
		nodeId,
		incarnation: `${nodeId}-1`,
		instance: 1,
		hostId: "host",
		pid: 1,
		startTime: "1",
		claim: 1,
		state: "ready",
		since: 0,
		pids: [],
		failure: null,
		cause: null,
		address: `${nodeId}.example`,
		masterPort: 4000,
		localWorldSize: 2,
		role: "default",
		...change,
	};
}

export function seatRecord(
	nodeId: string,
	change: Partial<SeatRecord> = {},
): SeatRecord {
	return {
		version: 1,
		planId: "plan-1",
		round: 1,
		incarnation: `${nodeId}-1`,
		groupRank: 0,
		firstRank: 0,
		firstRoleRank: 0,
		localWorldSize: 2,
		role: "default",
		previous: null,
		...change,
	};
}

export function failureRecord(
	nodeId: string,
	change: Partial<FailureRecord> = {},
): FailureRecord {
	return {
		id: `${nodeId}/${nodeId}-1/1`,
		nodeId,
		round: 1,
		rank: 0,
		localRank: 0,
		role: "default",
		pid: 100,
		exitCode: 1,
		signal: null,
		uptimeMs: 1_000,
		timestamp: 0,
		description: "exit code 1",
		...change,
	};
}

export function nodeFailure(
	nodeId: string,
	change: Partial<NodeFailure> = {},
): NodeFailure {
	return {
		failure: failureRecord(nodeId),
		charge: "run",
		failsRun: null,
		...change,
	};
}

/** The history's line of a round that has just begun. */
export function historyRecord(
	change: Partial<HistoryRecord> = {},
): HistoryRecord {
	return {
		version: 1,
		instance: 1,
		round: 1,
		cause: { kind: "start", changeEvent: null, reason: "start", root: null },
		incidents: 0,
		worldSize: 4,
		members: [],
		joined: [],
		left: [],
		begunAt: null,
		stoppedAt: null,
		readyAt: 0,
		liftedAt: 0,
		startedAt: null,
		endedAt: null,
		ending: null,
		outcome: null,
		...change,
	};
}

/** A view of nodes that came in the given order. */
export function runView(
	round: Partial<RoundRecord>,
	nodes: readonly NodeRecord[],
	rest: {
		seats?: Readonly<Record<string, Seat>>;
		finished?: readonly string[];
		done?: readonly string[];
		budgets?: Readonly<Record<string, number>>;
		story?: HistoryRecord;
		waiting?: WaitingRecord;
	} = {},
): RunView {
	const views = nodes.map((record, index): [string, NodeView] => [
		record.nodeId,
		{ record, createRevision: index + 1, modRevision: index + 1 },
	]);
	return {
		revision: 100,
		round: roundRecord(round),
		roundRevision: 50,
		nodes: new Map(views),
		seats: new Map(Object.entries(rest.seats ?? {})),
		finished: new Set(rest.finished ?? []),
		done: new Set(rest.done ?? []),
		budgets: new Map(
			Object.entries(rest.budgets ?? {}).map(([nodeId, charged]) => [
				nodeId,
				{ version: 1, charged },
			]),
		),
		story: rest.story,
		waiting: rest.waiting,
	};
}
