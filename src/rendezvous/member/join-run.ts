import { pause } from "../../base/back-off.js";
import type { Clock } from "../../base/clock.js";
import { ElasticRunError } from "../../base/errors.js";
import { formatDuration } from "../../base/units.js";
import type { Entry, Lease, Snapshot, Store } from "../../store/index.js";
import { RECREATED } from "../records/departure-records.js";
import type { AgentIdentity } from "../records/intent.js";
import type { RunKeys } from "../records/keys.js";
import { whereaboutsOf } from "../records/places.js";
import { encodeRecord, recordAt } from "../records/record-codec.js";
import {
	type GuardedWrite,
	ownCommand,
	ownRecord,
} from "../records/record-writer.js";
import {
	type NodeRecord,
	type Outcome,
	type RoundRecord,
	SEAT,
	type Whereabouts,
} from "../records/records.js";
import {
	commandOf,
	type OwnCommand,
	type RunSpec,
	SPEC,
} from "../records/run-spec.js";
import { decodeNode, readRunView } from "../records/run-view.js";
import { type Beginning, beginRun } from "./begin-run.js";
import { leftWrite } from "./end-dead.js";
import type { LeaderElection } from "./leader-election.js";

/** How much longer than its time to live to wait for a lease to expire, in milliseconds. */
const LEASE_GRACE_MS = 1_000;
/** Deletions per transaction; other writes need some of its 128 operations. */
const BATCH_SIZE = 100;
/** How often to look whether a node id or the run has become free, and to say so, in milliseconds. */
const LOOK_AGAIN_MS = 250;
const SAY_EVERY_MS = 10_000;

export interface Joining {
	/** Whether a process has certainly ended; false if unknown. */
	readonly isDead: (process: Whereabouts) => boolean;
	/**
	 * Whether another node id will do. A record then reserves the id at once, so that only one of two agents that choose it
	 * gets it, and the agent does not wait for a living holder.
	 */
	readonly isNodeIdTentative?: boolean | undefined;
	/** What this agent runs; undefined if it is not compared. */
	readonly command?: OwnCommand | undefined;
	/** Called from time to time with why this agent waits for its turn. */
	readonly onTurn?: ((why: string) => void) | undefined;
}

interface JoinRunOptions extends Joining {
	readonly store: Store;
	readonly clock: Clock;
	readonly keys: RunKeys;
	readonly spec: RunSpec;
	readonly identity: AgentIdentity;
	readonly election: LeaderElection;
	/** The lease of this agent's record. */
	readonly lease: Lease;
}

export type JoinedRun =
	| {
			readonly instance: number;
			/** How this agent's command differs from the run's command for its role; empty if it does not. */
			readonly otherCommand: readonly string[];
	  }
	/** The outcome and the round of a run that has just ended. */
	| { readonly outcome: Outcome; readonly round: RoundRecord }
	/** The holder of the tentative node id. */
	| { readonly holder: NodeRecord };

/**
 * Joins the run, or begins and coordinates it. A record that a dead process of this node left is replaced by this
 * process's, so it is never missing: the other agents wait for this process. If that process may live, this one waits
 * until its lease must have expired; but it gives up a tentative node id instead.
 * @throws ElasticRunError RENDEZVOUS_FAILED if the node id is taken or the settings differ
 */
export async function joinRun(options: JoinRunOptions): Promise<JoinedRun> {
	const { store, clock, keys, identity } = options;
	const began = clock.now();
	const { round, coordinator, spec } = keys;
	const { nodeId, role } = identity;
	const ofNode = [keys.node(nodeId), keys.seat(nodeId), keys.leftBy(nodeId)];
	const little = [round, coordinator, spec, ...ofNode, keys.command(role)];
	const turn = new Turn(options);
	let seesAll = false;
	for (;;) {
		const snapshot = await store.snapshot(
			seesAll ? [...keys.present, keys.command(role)] : little,
		);
		const found = findBeginning(snapshot, options, turn.isOver);
		const { own, isLeftBehind, holder, isNew, beginning } = found;
		// Only an agent that would begin the run must know all others: the full read may be large.
		seesAll = beginning.kind === "begin" && !seesAll;
		if (seesAll) continue;
		if (beginning.kind === "late" && !turn.hasBegun) {
			return { outcome: beginning.outcome, round: beginning.round };
		}
		if (beginning.kind === "late") {
			const why = "the run of this name has ended";
			await turn.wait({ kind: "wait", why });
			continue;
		}
		if (beginning.kind === "wait") {
			if (beginning.lastMs !== undefined) {
				const dead = deathOfPredecessor(snapshot, options);
				await reserve(snapshot, dead, options);
			}
			await turn.wait(beginning);
			continue;
		}
		if (beginning.kind === "begin") {
			if (isLeftBehind && own?.lease) await store.endLease(own.lease);
			else await begin(snapshot, beginning.round, options, holder);
			continue;
		}
		const { instance, otherCommand } = beginning;
		if (holder === undefined) {
			const steps = ownSteps(snapshot, instance, options, {
				isLeftBehind,
				isNew,
			});
			if (!(await reserve(snapshot, steps, options))) continue;
			if (isLeftBehind && own?.lease) await store.endLease(own.lease);
			return { instance, otherCommand };
		}
		if (options.isNodeIdTentative) return { holder };
		if (clock.now() - began >= patienceWith(holder, options)) {
			throw takenBy(holder, identity);
		}
		await pause(clock, LOOK_AGAIN_MS);
	}
}

/** What this snapshot says to a process that comes. */
function findBeginning(
	snapshot: Snapshot,
	options: JoinRunOptions,
	hasWaited: boolean,
) {
	const { clock, keys, spec, identity, isDead, command } = options;
	const { entries } = snapshot;
	const own = entries.get(keys.node(identity.nodeId));
	const found = own && holderOf(own, identity);
	// Whose lease lives may be a copy of this machine, which seems to have been booted again.
	const place = found && { ...whereaboutsOf(found), machineId: undefined };
	const isLeftBehind = place !== undefined && isDead(place);
	const holder = isLeftBehind ? undefined : found;
	const view = readRunView(keys, holder ? snapshot : without(snapshot, own));
	const theirs = commandOf(
		entries.get(keys.command(identity.role)),
		view?.round.instance ?? 0,
	);
	const beginning = beginRun(
		view,
		recordAt(SPEC, snapshot, keys.spec),
		spec,
		{ wallTime: clock.wallTime(), hasWaited },
		command && { mine: command, theirs },
	);
	const isNew = theirs === undefined;
	return { own, isLeftBehind, holder, isNew, beginning };
}

/** How long the holder's record may live after its process has ended, in milliseconds. */
function patienceWith(
	{ leaseTtlMs = 0 }: NodeRecord,
	{ spec, lease }: JoinRunOptions,
): number {
	// A store may grant more than was asked for, to the holder as to this agent.
	const ttlMs = Math.max(spec.leaseTtlMs, lease.ttlMs, leaseTtlMs);
	return ttlMs + LEASE_GRACE_MS;
}

/** The snapshot without this entry: the record of this process or its predecessor does not make a living run. */
function without(snapshot: Snapshot, entry: Entry | undefined): Snapshot {
	const entries = new Map(snapshot.entries);
	if (entry !== undefined) entries.delete(entry.key);
	return { ...snapshot, entries };
}

/**
 * Begins the run and writes this agent's record in the same transaction: the next agent finds one alive, whose settings
 * are the run's. While another process holds the node id, no record can be written.
 */
async function begin(
	snapshot: Snapshot,
	round: RoundRecord,
	options: JoinRunOptions,
	holder: NodeRecord | undefined,
): Promise<void> {
	const { store, keys, spec, election } = options;
	const { entries } = snapshot;
	const own = [
		...(holder ? [] : [ownRecord(snapshot, round.instance, options)]),
		...ownCommand(snapshot, round.instance, options),
	];
	const stale = [...entries.keys()].filter((key) =>
		keys.ofOneStart.some((prefix) => key.startsWith(prefix)),
	);
	const deletions = stale.map((key) => ({ delete: key }));
	const leaderless = !entries.has(keys.coordinator);
	const guards = [
		{
			key: keys.round,
			modRevision: entries.get(keys.round)?.modRevision ?? 0,
		},
		...(leaderless ? [election.guard] : []),
		...own.map(({ guard }) => guard),
	];
	// No agent of that start is alive, so none will read these any more.
	while (deletions.length > BATCH_SIZE) {
		const batch = deletions.splice(0, BATCH_SIZE);
		if (!(await store.transaction(guards, batch)).succeeded) return;
	}
	await store.transaction(guards, [
		...(leaderless ? [election.write] : []),
		...deletions,
		...own.map(({ write }) => write),
		{ put: keys.spec, value: encodeRecord(spec) },
		{ put: keys.round, value: encodeRecord(round) },
	]);
}

/** The writes before this agent takes part. */
function ownSteps(
	snapshot: Snapshot,
	instance: number,
	options: JoinRunOptions,
	{ isLeftBehind, isNew }: { isLeftBehind: boolean; isNew: boolean },
): readonly GuardedWrite[] {
	const { keys, identity, isNodeIdTentative } = options;
	const isAbsent = !snapshot.entries.has(keys.node(identity.nodeId));
	// Without a coordinator there may be no other agent: the next one must not take the run for dead.
	const isFirst = !snapshot.entries.has(keys.coordinator);
	const mustReserve =
		isLeftBehind || (isAbsent && (isNodeIdTentative || isFirst));
	return [
		...(mustReserve ? [ownRecord(snapshot, instance, options)] : []),
		...(isNew ? ownCommand(snapshot, instance, options) : []),
		...deathOfPredecessor(snapshot, options),
	];
}

/**
 * The process that had this node's place has certainly ended: its round does not ride out an outage any more, and nobody
 * waits for that.
 */
function deathOfPredecessor(
	snapshot: Snapshot,
	{ keys, identity, isDead }: JoinRunOptions,
): readonly GuardedWrite[] {
	const { nodeId } = identity;
	const seat = recordAt(SEAT, snapshot, keys.seat(nodeId));
	if (seat === undefined || !("planId" in seat)) return [];
	const { process, incarnation } = seat;
	if (process === undefined || incarnation === identity.incarnation) return [];
	const known = recordAt(RECREATED, snapshot, keys.leftBy(nodeId));
	if (known?.incarnation === incarnation || !isDead(process)) return [];
	const key = keys.leftBy(nodeId);
	const { modRevision = 0 } = snapshot.entries.get(key) ?? {};
	const write = leftWrite(keys, { nodeId, incarnation }, { died: true });
	return [{ guard: { key, modRevision }, write }];
}

/** Returns whether all was written: node and run were still as read. */
async function reserve(
	snapshot: Snapshot,
	steps: readonly GuardedWrite[],
	{ store, keys }: JoinRunOptions,
): Promise<boolean> {
	if (steps.length === 0) return true;
	const modRevision = snapshot.entries.get(keys.round)?.modRevision ?? 0;
	const guards = [
		...steps.map(({ guard }) => guard),
		{ key: keys.round, modRevision },
	];
	const writes = steps.map(({ write }) => write);
	return (await store.transaction(guards, writes)).succeeded;
}

/** The wait for agents that are not like this one, at most for the join time-out, or until none can be left. */
class Turn {
	private readonly until: number;
	private sayAt: number;
	/** When those that may work on without the store have ended. */
	private overAt = Number.POSITIVE_INFINITY;

	constructor(
		private readonly options: Pick<JoinRunOptions, "clock" | "spec" | "onTurn">,
	) {
		const now = options.clock.now();
		this.until = now + options.spec.joinTimeoutMs;
		this.sayAt = now;
	}

	/** Whether it waits for those that may work on without the store: their end is not this process's. */
	get hasBegun(): boolean {
		return this.overAt < Number.POSITIVE_INFINITY;
	}

	get isOver(): boolean {
		return this.options.clock.now() >= this.overAt;
	}

	/**
	 * Resolves when it is time to look again.
	 * @throws ElasticRunError RENDEZVOUS_FAILED when the join time-out is over
	 */
	async wait({ why, lastMs }: Beginning & { kind: "wait" }): Promise<void> {
		const { clock, onTurn } = this.options;
		const now = clock.now();
		if (lastMs !== undefined) this.overAt = Math.min(this.overAt, now + lastMs);
		if (lastMs === undefined && now >= this.until) {
			throw new ElasticRunError(
				"RENDEZVOUS_FAILED",
				`${why}; its agents were still there after join_timeout`,
			);
		}
		if (now >= this.sayAt) {
			this.sayAt = now + SAY_EVERY_MS;
			const atMost =
				lastMs === undefined
					? ""
					: `, for ${formatDuration(this.overAt - now)} at most; if you know that they are gone, give --ride-out off`;
			onTurn?.(
				`${why}; this agent waits until the agents of that run are gone${atMost}`,
			);
		}
		await pause(clock, LOOK_AGAIN_MS);
	}
}

/** @throws ElasticRunError RENDEZVOUS_FAILED if another process has taken this agent's node id */
export function refuseForeign(entry: Entry, identity: AgentIdentity): void {
	const holder = holderOf(entry, identity);
	if (holder !== undefined) throw takenBy(holder, identity);
}

/** The record of another process with this agent's node id. */
function holderOf(
	entry: Entry,
	{ incarnation }: AgentIdentity,
): NodeRecord | undefined {
	const record = decodeNode(entry);
	return record.incarnation === incarnation ? undefined : record;
}

function takenBy(holder: NodeRecord, own: AgentIdentity): ElasticRunError {
	const isHere = holder.hostId === own.hostId && own.hostId !== "";
	const where = isHere ? "this machine" : `the machine at ${holder.address}`;
	return new ElasticRunError(
		"RENDEZVOUS_FAILED",
		`node id ${holder.nodeId} is taken by pid ${holder.pid} on ${where}; give this agent another --node-id`,
	);
}
