import type { Clock } from "../clock.js";
import type { RunKeys } from "./keys.js";
import { LookLoop } from "./look-loop.js";
import {
	EMPTY_MEMORY,
	type Plan,
	type PlannerConfig,
	type PlannerMemory,
	type PlannerTime,
	type PlanResult,
} from "./plan.js";
import { planRound } from "./plan-round.js";
import { planWrites } from "./plan-writes.js";
import { encodeRecord } from "./record-codec.js";
import { type RunView, readRunView } from "./run-view.js";
import type {
	Compare,
	Entry,
	Snapshot,
	Store,
	TransactionResult,
	Watch,
	Write,
} from "./store.js";
import { tellWaiting, type WaitingMemory } from "./waiting.js";

/** Writes a transaction may hold beside its guards; etcd's limit is 128 operations. */
const BATCH_SIZE = 100;

/** How long it rests after each look, for each node, in milliseconds: in a large job many changes come together. */
const REST_MS_A_NODE = 0.02;

/** Tells one term of one agent from all others: the revision in one store, the value between two. */
export type FencingToken = Pick<Entry, "createRevision" | "value">;

export interface CoordinatorOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly keys: RunKeys;
	readonly config: PlannerConfig;
	/** This agent's `coordinator` key: what every write is guarded by. */
	readonly fencingToken: FencingToken;
	/** Distinguishes this agent's plans from all others'. */
	readonly incarnation: string;
	/** A number in [0, 1), by which tries at an unreachable store are spread. */
	readonly random: () => number;
	/** Writes that one transaction may hold beside its guards; 100 unless given. */
	readonly batchSize?: number | undefined;
	/** Told whenever the reason for what is done or waited for changes. */
	readonly onReason: (reason: string) => void;
	readonly onError: (error: unknown) => void;
}

/**
 * Folds the members' records through the planner and writes what it says. It
 * holds no authority of its own: a deposed coordinator's writes fail.
 */
export class Coordinator {
	private readonly loop: LookLoop;
	private memory: PlannerMemory = EMPTY_MEMORY;
	private waitingMemory: WaitingMemory | null = null;
	/** Whose line of the history is read together with the rest: the newest round that it knows of. */
	private synced = 0;
	/** What was read last; undefined: nothing that can be relied on. */
	private known: Snapshot | undefined;
	private watch: Watch | undefined;
	private plansMade = 0;
	private reason = "";
	private closed = false;

	constructor(private readonly options: CoordinatorOptions) {
		this.loop = new LookLoop({ ...options, look: () => this.planOnce() });
	}

	get fencingToken(): FencingToken {
		return this.options.fencingToken;
	}

	start(): void {
		this.loop.hint();
	}

	close(): void {
		this.closed = true;
		this.loop.close();
		this.watch?.close();
	}

	/** Returns whether something was written, so that there may be more to do. */
	private async planOnce(): Promise<boolean> {
		const { store, clock, keys, config } = this.options;
		const snapshot = await store.snapshot(
			[...keys.present, keys.historyOf(this.synced)],
			this.known,
		);
		if (this.closed) return false;
		this.known = snapshot;
		this.watch ??= store.watch(
			[keys.round, keys.nodes, keys.finished],
			snapshot.revision,
			() => this.loop.hint(),
		);
		const view = readRunView(keys, snapshot);
		if (view === undefined) return false;
		this.loop.rest(Math.floor(view.nodes.size * REST_MS_A_NODE));
		if (view.round.synced !== this.synced) {
			this.synced = view.round.synced;
			return true;
		}
		const time = { now: clock.now(), wallTime: clock.wallTime() };
		const planId = this.nextPlanId(view);
		const result = planRound(view, this.memory, config, planId, time);
		const { plan, memory, until, reason } = result;
		this.memory = memory;
		if (until !== undefined) this.loop.hint(until - time.now);
		if (reason !== this.reason) this.options.onReason(reason);
		this.reason = reason;
		if (plan === undefined) return this.tell(result, view, time);
		this.plansMade += 1;
		return this.carryOut(plan, view);
	}

	/** Lets users know what is waited for, where that lasts. */
	private async tell(
		{ awaited, until }: PlanResult,
		view: RunView,
		time: PlannerTime,
	): Promise<boolean> {
		const { keys } = this.options;
		const { write, lookAt, memory } = tellWaiting(
			awaited,
			until,
			view.waiting,
			this.waitingMemory,
			{ ...time, instance: view.round.instance },
		);
		this.waitingMemory = memory;
		if (lookAt !== undefined) this.loop.hint(lookAt - time.now);
		if (write === undefined) return false;
		const { succeeded } = await this.write(
			write === null
				? [{ delete: keys.waiting }]
				: [{ put: keys.waiting, value: encodeRecord(write) }],
			view,
		);
		return succeeded;
	}

	/** An agent may coordinate more than once, even under one token: the revision tells its terms apart. */
	private nextPlanId({ revision }: RunView): string {
		return `${this.options.incarnation}.${revision}.${this.plansMade}`;
	}

	private async carryOut(plan: Plan, view: RunView): Promise<boolean> {
		const { keys, batchSize = BATCH_SIZE } = this.options;
		const { others, last } = planWrites(plan, keys, view);
		const isSmall = others.length + last.length <= batchSize;
		if (isSmall || others.length === 0) {
			return this.finish(plan, [...others, ...last], view);
		}
		const guard = await this.writeInBatches(others, view);
		if (guard === undefined) return false;
		const unmark = { delete: keys.lifting };
		return this.finish(plan, [...last, unmark], view, guard);
	}

	/**
	 * Writes what one transaction cannot hold. What an earlier try has still under
	 * way to the store must not get among it: the first batch of each try changes
	 * one key, which all that follows compares. Resolves with that guard.
	 */
	private async writeInBatches(
		writes: readonly Write[],
		view: RunView,
	): Promise<Compare | undefined> {
		const { keys, batchSize = BATCH_SIZE } = this.options;
		let guard: Compare | undefined;
		for (let from = 0; from < writes.length; from += batchSize) {
			const batch = writes.slice(from, from + batchSize);
			const mark = { put: keys.lifting, value: this.nextPlanId(view) };
			const { succeeded, revision } = guard
				? await this.write(batch, view, guard)
				: await this.write([mark, ...batch], view);
			if (!succeeded) return undefined;
			guard ??= { key: keys.lifting, modRevision: revision };
		}
		return guard;
	}

	private async finish(
		plan: Plan,
		writes: readonly Write[],
		view: RunView,
		guard?: Compare,
	): Promise<boolean> {
		const { succeeded } = await this.write(writes, view, guard);
		if (succeeded && "round" in plan) this.synced = plan.round.synced;
		return succeeded;
	}

	private async write(
		writes: readonly Write[],
		view: RunView,
		guard?: Compare,
	): Promise<TransactionResult> {
		const { store, keys, fencingToken } = this.options;
		const { createRevision, value } = fencingToken;
		const guards: Compare[] = [
			{ key: keys.coordinator, createRevision, value },
			{ key: keys.round, modRevision: view.roundRevision },
			...(guard ? [guard] : []),
		];
		const result = await store.transaction(guards, writes);
		// Another etcd under the old address may hold other keys of the same revisions.
		if (!result.succeeded) this.known = undefined;
		return result;
	}
}
