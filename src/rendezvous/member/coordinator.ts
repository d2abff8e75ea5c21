import type { Clock } from "../../base/clock.js";
import type {
	Reader,
	Snapshot,
	TransactionResult,
	Watch,
	Write,
} from "../../store/index.js";
import { handsOver } from "../planner/departures.js";
import { noteLife } from "../planner/life.js";
import { rememberLift } from "../planner/observe-round.js";
import {
	EMPTY_MEMORY,
	type Plan,
	type PlannerConfig,
	type PlannerMemory,
	type PlannerTime,
	type PlanResult,
} from "../planner/plan.js";
import { planRound } from "../planner/plan-round.js";
import { toCareFor } from "../planner/replace-nodes.js";
import { refuseMissingSeats } from "../planner/seats.js";
import { tellWaiting, type WaitingMemory } from "../planner/waiting.js";
import type { ReplacedRecord } from "../records/departure-records.js";
import type { AgentIdentity } from "../records/intent.js";
import { encodeRecord, type Warn } from "../records/record-codec.js";
import { type RunView, readRunView } from "../records/run-view.js";
import {
	type FencingToken,
	PlanWriter,
	type PlanWriterOptions,
} from "./plan-writer.js";
import { ReconcileLoop } from "./reconcile-loop.js";
import type { Ride } from "./ride.js";
import { SnapshotCache } from "./snapshot-cache.js";

/** The pause after each look, per node, in milliseconds: in a large job many changes come together. */
const REST_MS_A_NODE = 0.02;
/**
 * In a larger job one look covers the records of many agents, so a write by the coordinator's own agent is not read back
 * for it.
 */
const MOST_NODES_READ_BACK = 32;

/** What an agent wants of its part as the coordinator. */
export interface Coordinating {
	/** The most writes in one transaction besides its guards. */
	readonly batchSize?: number | undefined;
	/** Called when the reason for the current plan or wait changes. */
	readonly onPlanReason: (reason: string) => void;
	/** Called at each look with unreadable records that only inform people. */
	readonly onSkipped: Warn;
	/** Called once for each node that is to be replaced: this coordinator alone cares for it. */
	readonly onReplace?: ((record: ReplacedRecord) => void) | undefined;
}

export interface CoordinatorOptions extends PlanWriterOptions {
	readonly clock: Clock;
	readonly config: PlannerConfig;
	/** Distinguishes this agent's plans from all others'. */
	readonly identity: Pick<AgentIdentity, "nodeId" | "incarnation">;
	readonly coordinating: Coordinating;
	/** This agent, for which each written plan is read back; undefined: for nobody. */
	readonly own?: Reader | undefined;
	/** Its part in riding out an outage; undefined: nobody does. */
	readonly ride?: Ride | undefined;
	/** A number in [0, 1) that spreads the tries at an unreachable store. */
	readonly random: () => number;
	/** The newest round known before the first look. */
	readonly synced: number;
	/** The records of `RunKeys.coordinating`, if read back with the token: the first plan uses them. */
	readonly known?: Snapshot | undefined;
	readonly onError: (error: unknown) => void;
}

/**
 * Passes the members' records through the planner and writes its plans. The store decides its authority: the writes of a
 * deposed coordinator fail.
 */
export class Coordinator {
	private readonly loop: ReconcileLoop;
	private readonly writer: PlanWriter;
	private readonly caretaker: Caretaker;
	private memory: PlannerMemory = EMPTY_MEMORY;
	private waitingMemory: WaitingMemory | null = null;
	/** The newest round it knows: the history line of this round is read with the rest. */
	private synced: number;
	private readonly cache: SnapshotCache;
	private watch: Watch | undefined;
	/** The number of nodes at the last look. */
	private nodes = 0;
	private plansMade = 0;
	private reason = "";
	private closed = false;

	constructor(private readonly options: CoordinatorOptions) {
		const { store, keys, known } = options;
		this.synced = options.synced;
		this.cache = new SnapshotCache(store, () => keys.coordinating(this.synced));
		if (known !== undefined) this.cache.offer(known);
		this.writer = new PlanWriter(options);
		this.caretaker = new Caretaker(options, this.writer);
		this.loop = new ReconcileLoop({
			...options,
			seen: () => this.cache.revision,
			look: (atLeast) => this.planOnce(atLeast),
		});
	}

	get fencingToken(): FencingToken {
		return this.options.fencingToken;
	}

	/** Read this back with what its own agent writes: it plans from it at once. */
	get reader(): Reader | undefined {
		const { synced } = this;
		if (this.nodes > MOST_NODES_READ_BACK) return undefined;
		return {
			selectors: this.options.keys.coordinating(synced),
			take: (read) => {
				// Another round has another line of the history.
				if (synced !== this.synced) return;
				this.cache.offer(read);
				this.loop.requestReadAt(read.revision);
			},
		};
	}

	/** Call it at first, and when it may plan again. */
	start(): void {
		this.loop.requestRead();
	}

	close(): void {
		this.closed = true;
		this.loop.close();
		this.watch?.close();
	}

	/** Returns whether it wrote something, so that there may be more to do. */
	private async planOnce(atLeast: number): Promise<boolean> {
		const { store, clock, keys, config, identity, coordinating } = this.options;
		const snapshot = await this.cache.look(atLeast);
		if (this.closed) return false;
		this.watch ??= store.watch(
			[keys.round, keys.nodes, keys.finished],
			snapshot.revision,
			(changed) => this.loop.requestReadAt(changed),
		);
		const view = readRunView(keys, snapshot, coordinating.onSkipped);
		if (view === undefined) return false;
		refuseMissingSeats(view, keys.round);
		this.nodes = view.nodes.size;
		this.loop.rest(Math.floor(this.nodes * REST_MS_A_NODE));
		if (view.round.synced !== this.synced) {
			this.synced = view.round.synced;
			return true;
		}
		const time = { now: clock.now(), wallTime: clock.wallTime() };
		const { ride } = this.options;
		if (ride && ride.promisedUntil > time.now) {
			this.loop.requestRead(ride.promisedUntil - time.now);
			return false;
		}
		const planId = this.nextPlanId(view);
		const planner = ride && {
			incarnation: identity.incarnation,
			knownFrom: ride.knownFrom(view.round.planId ?? ""),
		};
		const about = [view, this.memory, config, planId, time, planner] as const;
		const result = planRound(...about);
		const { plan, memory, until, reason } = result;
		this.memory = memory;
		if (until !== undefined) this.loop.requestRead(until - time.now);
		if (reason !== this.reason) coordinating.onPlanReason(reason);
		this.reason = reason;
		if (handsOver(view, identity) || result.handsOver) {
			return this.resign(plan, view);
		}
		const cared = plan ? undefined : await this.caretaker.care(view);
		if (cared) return this.learn(cared);
		if (plan === undefined) return this.tell(result, view, time);
		return this.carryOut(plan, view);
	}

	/** Another agent becomes coordinator while this one still ends its workers. The pending plan is written with the resignation. */
	private async resign(plan: Plan | undefined, view: RunView): Promise<false> {
		const resignation = [{ delete: this.options.keys.coordinator }];
		const hasResigned = plan
			? await this.carryOut(plan, view, resignation)
			: this.learn(await this.writer.write(resignation, view));
		if (hasResigned) this.close();
		return false;
	}

	/** Publishes what the run waits for, if it lasts, and for a successor how long the run has lived. */
	private async tell(
		{ awaited, until }: PlanResult,
		view: RunView,
		time: PlannerTime,
	): Promise<boolean> {
		const { keys, config } = this.options;
		const life = noteLife(view, this.memory.life, config, time);
		if (life.lookAt !== undefined) {
			this.loop.requestRead(life.lookAt - time.now);
		}
		const { write, lookAt, memory } = tellWaiting(
			awaited,
			until,
			view.waiting,
			this.waitingMemory,
			{ ...time, instance: view.round.instance },
		);
		this.waitingMemory = memory;
		if (lookAt !== undefined) this.loop.requestRead(lookAt - time.now);
		const changes: Write[] = [];
		if (write === null) changes.push({ delete: keys.waiting });
		else if (write) {
			changes.push({ put: keys.waiting, value: encodeRecord(write) });
		}
		if (life.write) {
			changes.push({ put: keys.lived, value: encodeRecord(life.write) });
		}
		if (changes.length === 0) return false;
		return this.learn(await this.writer.write(changes, view));
	}

	/** An agent may coordinate more than once, even with one token: the revision distinguishes its terms. */
	private nextPlanId({ revision }: RunView): string {
		return `${this.options.identity.incarnation}.${revision}.${this.plansMade}`;
	}

	private async carryOut(
		plan: Plan,
		view: RunView,
		also: readonly Write[] = [],
	): Promise<boolean> {
		this.plansMade += 1;
		const tryId = this.nextPlanId(view);
		const { ride, own, keys } = this.options;
		if ("round" in plan) ride?.writing(view.roundRevision);
		const all = this.reader && keys.coordinating(syncedBy(plan, view));
		const reads = own && (all ?? own.selectors);
		const about = { tryId, also, reads };
		const written = await this.writer.carryOut(plan, view, about);
		const { succeeded, read } = written;
		if (!succeeded) ride?.refused();
		if (read !== undefined && !this.closed) {
			own?.take(read);
			if (all !== undefined) this.cache.offer(read);
		}
		if (succeeded && plan.kind === "lift") {
			this.synced = plan.round.synced;
			const { life } = this.memory;
			this.memory = { ...rememberLift(plan.round), life };
		}
		return this.learn(written);
	}

	/** After a refusal all is read again: another etcd at the old address may hold other keys with the same revisions. */
	private learn({ succeeded, revision }: TransactionResult): boolean {
		if (succeeded) this.cache.wrote(revision);
		else this.cache.forget();
		return succeeded;
	}
}

/** The newest round once this plan is written. */
function syncedBy(plan: Plan, { round }: RunView): number {
	return "round" in plan ? plan.round.synced : round.synced;
}

/** Cares for nodes that are to be replaced. First it says so in the store, so that no successor does it again. */
export class Caretaker {
	/** The incarnation for which it has said so, if it does not know whether that was written. */
	private unanswered: string | undefined;

	constructor(
		private readonly options: Pick<
			CoordinatorOptions,
			"keys" | "identity" | "coordinating"
		>,
		private readonly writer: Pick<PlanWriter, "write">,
	) {}

	/** Resolves with what came of the write; undefined if none is needed. */
	async care(view: RunView): Promise<TransactionResult | undefined> {
		const { keys, identity, coordinating } = this.options;
		const { onReplace } = coordinating;
		if (onReplace === undefined) return undefined;
		this.takeUp(view, onReplace);
		const record = toCareFor(view, identity);
		if (record === undefined) return undefined;
		const put = keys.replacedNode(record.nodeId);
		this.unanswered = record.incarnation;
		const writes = [{ put, value: encodeRecord(record) }];
		const written = await this.writer.write(writes, view);
		this.unanswered = undefined;
		if (written.succeeded) onReplace(record);
		return written;
	}

	/** Cares for the node for which it said so without hearing the store's answer, if that was written. */
	private takeUp(
		{ replaced = new Map() }: RunView,
		onReplace: (record: ReplacedRecord) => void,
	): void {
		const { nodeId } = this.options.identity;
		const record = [...replaced.values()].find(
			({ caredForBy, incarnation, replacement }) =>
				caredForBy === nodeId &&
				incarnation === this.unanswered &&
				replacement === undefined,
		);
		if (record === undefined) return;
		this.unanswered = undefined;
		onReplace(record);
	}
}
