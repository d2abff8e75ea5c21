import {
	fields,
	flag,
	type Infer,
	isObject,
	list,
	mapOf,
	matching,
	nullable,
	oneOf,
	optional,
	type Shape,
} from "../../base/shape.js";
import {
	claim,
	count,
	duration,
	exitCode,
	instance,
	LINK_ADDRESS,
	LINKED_AGENT,
	name,
	port,
	positive,
	round,
	size,
	step,
	time,
	token,
	version,
	words,
} from "../../model/index.js";
import { failure } from "./failure.js";

/** Version of every record; a reader refuses any other. */
export const RECORD_VERSION = 1;

export const result = oneOf("succeeded", "failed", "stopped");
/** Why a node's machine will go. */
export type NoticeRecord = Infer<typeof notice>;

const notice = fields({
	/** "aws", "slurm", "command" …; later agents may know others. */
	source: name,
	reason: words,
	/** When the machine goes, in milliseconds since 1970; absent if unknown. */
	deadline: optional(time),
});

/** A failure with the decision of the agent's policy. */
export type NodeFailure = Infer<typeof nodeFailure>;

const nodeFailure = fields({
	failure,
	charge: oneOf("run", "node", "worker", "nothing"),
	/** Set if the failure ends the run whatever budget is left: the run's exit code. */
	failsRun: nullable(exitCode),
	/** Set if its node had not heard that the round was over. */
	unaware: optional(flag),
	/**
	 * Set if the worker was paused, or was kept and had not gone on in this round, and nothing in its place has had this
	 * excuse in this incident.
	 */
	paused: optional(flag),
	/** Nothing has failed: the worker waits for another round. */
	isWish: optional(flag),
});

export type RoundCause = Infer<typeof cause>;

export const cause = fields({
	kind: oneOf("start", "failure", "scale-down", "scale-up"),
	changeEvent: nullable(oneOf("SCALE_UP", "SCALE_DOWN")),
	/** In words: "rank 2 on node-a: exit code 1", "node-b left: SIGTERM". */
	reason: words,
	root: nullable(failure),
	/** The round that a change of the members has ended. */
	ended: optional(round),
	/**
	 * How long before the round was left its first sign was, in milliseconds: see story.ts. Absent if it was left at
	 * once, or for newcomers.
	 */
	noticedAfterMs: optional(duration),
	/** Nothing had failed: the root is a worker that waited for another round. */
	isWish: optional(flag),
	/** The roles that restart, if that is not the whole run. */
	roles: optional(list(name)),
});

/** The figures of a world that all its workers share. */
export type World = Infer<typeof world>;

const world = fields({
	worldSize: positive,
	groupWorldSize: positive,
	roleWorldSizes: mapOf(name, positive),
	masterAddr: token,
	masterPort: port,
});

/** How a run ended; every agent exits with it. */
export type Outcome = Infer<typeof outcome>;

const outcome = fields(
	{
		result,
		exitCode,
		reason: words,
		root: nullable(failure),
		/** When it was written, in milliseconds since 1970; only informs people. */
		endedAt: optional(time),
		/** The failures that came again and again and so ended it, each in one line. */
		repeated: optional(list(words)),
	},
	(value) =>
		(value.result === "succeeded") === (value.exitCode === 0)
			? undefined
			: {
					field: "exitCode",
					allowed: `0 for "succeeded", 1 to 255 for the rest`,
				},
);

/** What was charged to a budget. */
export type Spending = Infer<typeof spending>;

const spending = fields({
	count,
	/** When, in milliseconds since 1970 by the coordinator's clock: the newest, and only if a window makes it count. */
	at: list(time),
});

/** What a role's agents ask for it: it is the role's own, and other roles may differ. */
export type RoleTerms = Infer<typeof roleTerms>;

const roleTerms = fields({
	/** What befalls it restarts its workers only, else all workers of the run. */
	restartsAlone: flag,
	/** Failures of it, after which the run fails; absent: no limit. */
	maxRestarts: optional(count),
	windowMs: optional(duration),
});

/** The furthest step of a node's workers in a round. */
export type Reached = Infer<typeof reached>;

const reached = fields({
	round,
	/** Null if a worker has gone back in the round, so that its steps do not show how far it is. */
	step: nullable(step),
});

const previousPlace = fields({
	planId: token,
	groupRank: count,
});

/** A failure that came again and again: see progress.ts. */
export type RepeatedFailure = Infer<typeof repeatedFailure>;

const repeatedFailure = fields({
	fingerprint: words,
	times: count,
	/** The furthest step of the workers that failed; absent if they count none. */
	step: optional(step),
	/** Where it was: the nodes that it came from. */
	nodes: list(name),
	/** The newest of them, each in one line. */
	lines: list(words),
});

/** `round`: the one key that tells the state of the run. The coordinator writes it, by compare-and-set. */
export type RoundRecord = Infer<typeof ROUND>;

export const ROUND = fields(
	{
		version,
		/** Names one start of the run; higher in each later one. */
		instance,
		/** The newest round whose workers may run; 0 before the first. Never decreases. */
		synced: round,
		/** Every round up to this one must be left. Never decreases, never above `synced`. */
		deprecated: round,
		/** The plan of `synced`; null before an instance's first. */
		planId: nullable(token),
		/** How many seats the plan has. */
		seats: count,
		/** Why the last change was made. */
		cause,
		/** Incidents of this instance, charged or not. */
		incidents: count,
		/** What was charged to the run's own budget. */
		charged: count,
		/** When; see `Spending`. */
		chargedAt: optional(list(time)),
		/** What nodes of the roles of `synced` asked for; absent for a role: the usual. */
		terms: optional(mapOf(name, roleTerms)),
		/** How often the run has lost machines, if `--max-preemptions` limits it. */
		preempted: optional(spending),
		/** What was charged to each role, if `--max-role-restarts` limits it. */
		roles: optional(mapOf(name, spending)),
		/** Failures of the round `synced`, and of the one before, that are accounted for. */
		accounted: list(token),
		/** Why the round was left, while it is open whether it is charged. */
		unpaid: optional(nodeFailure),
		/** The furthest step of all rounds, by role; only of roles that count steps. */
		furthest: optional(mapOf(name, step)),
		/** How many incidents in a row have ended a round in which nothing moved; absent: none. */
		fruitless: optional(count),
		/** The newest incidents that were the same, without progress between them. */
		repeated: optional(repeatedFailure),
		/** The first member of the plan, which all agents of the run call; absent: nobody is called. */
		head: optional(LINKED_AGENT),
		world: nullable(world),
		outcome: nullable(outcome),
	},
	({ synced, deprecated }) =>
		deprecated <= synced
			? undefined
			: { field: "deprecated", allowed: `at most synced (${synced})` },
);

const nodeState = oneOf(
	/** It has no workers and is not ready yet. */
	"joining",
	/** It has left its round and is ending its workers. */
	"stopping",
	/** It could start workers at once. */
	"ready",
	"running",
	/** Its workers have all succeeded. */
	"finished",
	/** It is going: no round waits for it or includes it. */
	"leaving",
);

export type NodeState = Infer<typeof nodeState>;

/** `nodes/<nodeId>`: an agent's record of itself. Only that agent writes it, under its lease. */
export type NodeRecord = Infer<typeof NODE>;

export const NODE = fields({
	version,
	nodeId: name,
	/** Names this process; the same in all of its sessions with the store. */
	incarnation: token,
	instance,
	hostId: token,
	pid: positive,
	/** Start time of the process, which distinguishes it from a later one with the same pid. */
	startTime: token,
	/** Names its machine in all of its boots; absent: unknown, or it is in a container. */
	machineId: optional(token),
	/** The network namespace in which it listens for links, if it does. */
	network: optional(token),
	/** The round that it wants to join, or is in. */
	claim,
	state: nodeState,
	/** When this state began, in milliseconds since 1970 by the node's own clock; only informs people. */
	since: time,
	/** Since when its workers ran in the round that it has left; absent as `ranUntil` is. Only informs people. */
	ranSince: optional(time),
	/**
	 * Until when all of its workers ran in the round that it has left, by its own clock: then it began to end or pause
	 * them. Absent if it has not run, or still runs. Only informs people.
	 */
	ranUntil: optional(time),
	/** The process whose place it takes: that one ended to be started again. */
	succeeds: optional(token),
	/** The rank that it wants among newcomers, from 0; absent: after those that want one. */
	nodeRank: optional(count),
	/** Its workers by local rank, if there are any; null: not started. */
	pids: list(nullable(positive)),
	/** How far its workers came in the round that it has left; absent if they count no steps. */
	reached: optional(reached),
	/** The last failure among its workers. */
	failure: nullable(nodeFailure),
	/** The last round that it left because its lease was unreliable, if any. */
	fencedIn: optional(round),
	/** Why it leaves, or has left its round before the others, in words. */
	cause: nullable(words),
	/** Set while paused workers keep it from being ready: how long it may wait for them before it ends them, in milliseconds. */
	awaitsWorkersMs: optional(duration),
	/** Set if it is ready for a round while its workers run on. */
	runsOn: optional(flag),
	/** Set if it leaves on request, without a failure. */
	isAsked: optional(flag),
	/** Set while its machine is about to go. Absent in records of older agents. */
	notice: optional(notice),
	address: token,
	masterPort: port,
	localWorldSize: size,
	role: name,
	/** Absent: the usual. */
	terms: optional(roleTerms),
	/** How long its lease lives, if that is longer than the run's: who wants its name waits so long. */
	leaseTtlMs: optional(duration),
	/** Where other agents can call it; absent: nowhere. */
	link: optional(LINK_ADDRESS),
});

/** `coordinator`: the agent that plans at this moment. The key's create revision is the fencing token. */
export type CoordinatorRecord = Infer<typeof COORDINATOR>;

export const COORDINATOR = fields({
	version,
	nodeId: name,
	incarnation: token,
});

/** `seats/<nodeId>`: one agent's place in one round, given by the coordinator. */
export type SeatRecord = Infer<typeof place>;

/** Where a process is, or was: enough to find out on its machine whether it has ended. */
export type Whereabouts = Infer<typeof whereabouts>;

const whereabouts = fields({
	/** These as in `NodeRecord`. */
	hostId: token,
	pid: positive,
	startTime: token,
	machineId: optional(token),
	network: optional(token),
	address: token,
	/** Where it listens for links, for all its life; absent: nowhere. */
	linkPort: optional(port),
});

const place = fields({
	version,
	planId: token,
	round,
	incarnation: token,
	groupRank: count,
	firstRank: count,
	firstRoleRank: count,
	localWorldSize: size,
	role: name,
	/** Where its process is; absent where that has no links. */
	process: optional(whereabouts),
	/** The agents of its group that pass on what it and the head of a large round say, the first ones first; absent: none. */
	speakers: optional(list(LINKED_AGENT)),
	/** Its place in the plan that this one will replace; it is valid until then. Null if it had none. */
	previous: nullable(previousPlace),
});

/** `seats/<nodeId>` of a node that may not take part any more. */
type RefusedSeat = Infer<typeof refused>;

const refused = fields({
	version,
	incarnation: token,
	refused: words,
});

export type Seat = SeatRecord | RefusedSeat;

export const SEAT: Shape<Seat> = (value, verdict): value is Seat =>
	isObject(value) && "refused" in value
		? refused(value, verdict)
		: place(value, verdict);

/** `finished/<nodeId>`: this member has finished its part of the plan. */
export const FINISHED = fields({
	version,
	planId: token,
});

const localRank = matching(/^\d{1,9}$/, "a local rank");

/** `budgets/<nodeId>`: what this node has used up; it outlives the node's processes. */
export type BudgetRecord = Infer<typeof BUDGET>;

export const BUDGET = fields({
	version,
	charged: count,
	/** When; see `Spending`. */
	chargedAt: optional(list(time)),
	/** What each of its workers has used up, by local rank. */
	workers: optional(mapOf(localRank, count)),
	workersAt: optional(mapOf(localRank, list(time))),
	/** Failures on this node, also those that others paid for, if `--max-node-restarts` limits them. */
	failures: optional(spending),
	/** Why it may not take part any more although no budget above is spent, in words. */
	barred: optional(words),
});
