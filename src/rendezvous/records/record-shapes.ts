import {
	fields,
	flag,
	isObject,
	list,
	mapOf,
	matching,
	nullable,
	oneOf,
	optional,
	type Shape,
} from "../../base/shape.js";
import type { RepeatedFailure, Spending } from "./budget-record.js";
import type { FinishedRecord } from "./finished-record.js";
import type { HistoryRecord } from "./history-record.js";
import {
	cause,
	claim,
	count,
	duration,
	instance,
	name,
	nodeFailure,
	notice,
	outcome,
	port,
	positive,
	result,
	round,
	size,
	step,
	time,
	token,
	version,
	words,
	world,
} from "./record-parts.js";
import type {
	BudgetRecord,
	CoordinatorRecord,
	NodeRecord,
	PreviousPlace,
	Reached,
	RoundRecord,
	Seat,
	SeatRecord,
} from "./records.js";
import type { RefusedSeat } from "./refused-seat.js";
import type { NodeList, WaitingRecord } from "./waiting-record.js";

const spending = fields<Spending>({ count, at: list(time) });

const repeatedFailure = fields<RepeatedFailure>({
	fingerprint: words,
	times: count,
	step: optional(step),
	nodes: list(name),
	lines: list(words),
});

export const ROUND = fields<RoundRecord>(
	{
		version,
		instance,
		synced: round,
		deprecated: round,
		planId: nullable(token),
		seats: count,
		cause,
		incidents: count,
		charged: count,
		chargedAt: optional(list(time)),
		roles: optional(mapOf(name, spending)),
		accounted: list(token),
		unpaid: optional(nodeFailure),
		furthest: optional(mapOf(name, step)),
		fruitless: optional(count),
		repeated: optional(repeatedFailure),
		world: nullable(world),
		outcome: nullable(outcome),
	},
	({ synced, deprecated }) =>
		deprecated <= synced
			? undefined
			: { field: "deprecated", allowed: `at most synced (${synced})` },
);

export const NODE = fields<NodeRecord>({
	version,
	nodeId: name,
	incarnation: token,
	instance,
	hostId: token,
	pid: positive,
	startTime: token,
	claim,
	state: oneOf(
		...(["joining", "stopping", "ready"] as const),
		...(["running", "finished", "leaving"] as const),
	),
	since: time,
	ranSince: optional(time),
	ranUntil: optional(time),
	succeeds: optional(token),
	nodeRank: optional(count),
	pids: list(nullable(positive)),
	reached: optional(fields<Reached>({ round, step: nullable(step) })),
	failure: nullable(nodeFailure),
	fencedIn: optional(round),
	cause: nullable(words),
	awaitsWorkersMs: optional(duration),
	runsOn: optional(flag),
	isAsked: optional(flag),
	notice: optional(notice),
	address: token,
	masterPort: port,
	localWorldSize: size,
	role: name,
});

export const COORDINATOR = fields<CoordinatorRecord>({
	version,
	nodeId: name,
	incarnation: token,
});

const place = fields<SeatRecord>({
	version,
	planId: token,
	round,
	incarnation: token,
	groupRank: count,
	firstRank: count,
	firstRoleRank: count,
	localWorldSize: size,
	role: name,
	previous: nullable(
		fields<PreviousPlace>({ planId: token, groupRank: count }),
	),
});

const refused = fields<RefusedSeat>({
	version,
	incarnation: token,
	refused: words,
});

export const SEAT: Shape<Seat> = (value, verdict): value is Seat =>
	isObject(value) && "refused" in value
		? refused(value, verdict)
		: place(value, verdict);

export const FINISHED = fields<FinishedRecord>({ version, planId: token });

const localRank = matching(/^\d{1,9}$/, "a local rank");

export const BUDGET = fields<BudgetRecord>({
	version,
	charged: count,
	chargedAt: optional(list(time)),
	workers: optional(mapOf(localRank, count)),
	workersAt: optional(mapOf(localRank, list(time))),
	failures: optional(spending),
	barred: optional(words),
});

export const HISTORY = fields<HistoryRecord>({
	version,
	instance,
	round,
	cause,
	incidents: count,
	worldSize: count,
	members: list(name),
	joined: list(name),
	left: list(name),
	begunAt: nullable(time),
	stoppedAt: nullable(time),
	readyAt: time,
	liftedAt: time,
	startedAt: nullable(time),
	endedAt: nullable(time),
	noticedAfterMs: optional(duration),
	ending: nullable(words),
	outcome: nullable(result),
});

const nodeList = fields<NodeList>({ count, names: list(name) });

export const WAITING = fields<WaitingRecord>({
	version,
	instance,
	round: claim,
	kind: oneOf(
		...(["members", "minimum", "last-call"] as const),
		...(["newcomers", "end", "delay"] as const),
	),
	here: nodeList,
	missing: nodeList,
	needed: count,
	minNodes: count,
	maxNodes: count,
	since: time,
	until: nullable(time),
});
