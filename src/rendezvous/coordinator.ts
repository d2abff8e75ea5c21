import type { Clock } from "../clock.js";
import { handsOver } from "./hand-over.js";
import { LookLoop } from "./look-loop.js";
import { rememberLift } from "./observe-round.js";
import { Picture } from "./picture.js";
import {
	EMPTY_MEMORY,
	type Plan,
	type PlannerConfig,
	type PlannerMemory,
	type PlannerTime,
	type PlanResult,
} from "./plan.js";
import { planRound } from "./plan-round.js";
import {
	type FencingToken,
	PlanWriter,
	type PlanWriterOptions,
} from "./plan-writer.js";
import { encodeRecord } from "./record-codec.js";
import { type RunView, readRunView } from "./run-view.js";
import type { Reader, Snapshot, Watch, Write } from "./store.js";
import { tellWaiting, type WaitingMemory } from "./waiting.js";

/** How long it rests after each look, for each node, in milliseconds: in a large job many changes come together. */
const REST_MS_A_NODE = 0.02;
/** In a larger job a look takes in the words of many agents, and none is read back for its own agent's alone. */
const MOST_NODES_READ_BACK = 32;

export interface CoordinatorOptions extends PlanWriterOptions {
	readonly clock: Clock;
	readonly config: PlannerConfig;
	readonly nodeId: string;
	/** Distinguishes this agent's plans from all others'. */
	readonly incarnation: string;
	/** A number in [0, 1), by which tries at an unreachable store are spread. */
	readonly random: () => number;
	/** The newest round that is known of before the first look. */
	readonly synced: number;
	/** Of `RunKeys.coordinating`, if that was read back with the token: what is planned by first. */
	readonly known?: Snapshot | undefined;
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
	private readonly writer: PlanWriter;
	private memory: PlannerMemory = EMPTY_MEMORY;
	private waitingMemory: WaitingMemory | null = null;
	/** Whose line of the history is read together with the rest: the newest round that it knows of. */
	private synced: number;
	private readonly picture: Picture;
	private watch: Watch | undefined;
	/** How many there were at the last look. */
	private nodes = 0;
	private plansMade = 0;
	private reason = "";
	private closed = false;

	constructor(private readonly options: CoordinatorOptions) {
		const { store, keys, known } = options;
		this.synced = options.synced;
		this.picture = new Picture(store, () => keys.coordinating(this.synced));
		if (known !== undefined) this.picture.offer(known);
		this.writer = new PlanWriter(options);
		this.loop = new LookLoop({
			...options,
			seen: () => this.picture.revision,
			look: (atLeast) => this.planOnce(atLeast),
		});
	}

	get fencingToken(): FencingToken {
		return this.options.fencingToken;
	}

	/** To be read back with what its own agent writes: it is planned by at once. */
	get reader(): Reader | undefined {
		const { synced } = this;
		if (this.nodes > MOST_NODES_READ_BACK) return undefined;
		return {
			selectors: this.options.keys.coordinating(synced),
			take: (read) => {
				// Of another round another line of the history belongs to it.
				if (synced !== this.synced) return;
				this.picture.offer(read);
				this.loop.hintAt(read.revision);
			},
		};
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
	private async planOnce(atLeast: number): Promise<boolean> {
		const { store, clock, keys, config } = this.options;
		const snapshot = await this.picture.look(atLeast);
		if (this.closed) return false;
		this.watch ??= store.watch(
			[keys.round, keys.nodes, keys.finished],
			snapshot.revision,
			(changed) => this.loop.hintAt(changed),
		);
		const view = readRunView(keys, snapshot);
		if (view === undefined) return false;
		this.nodes = view.nodes.size;
		this.loop.rest(Math.floor(this.nodes * REST_MS_A_NODE));
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
		if (handsOver(view, this.options)) return this.resign(plan, view);
		if (plan === undefined) return this.tell(result, view, time);
		return this.carryOut(plan, view);
	}

	/** Another stands while this agent still ends its workers; what is to be done now is done with it. */
	private async resign(plan: Plan | undefined, view: RunView): Promise<false> {
		const resignation = [{ delete: this.options.keys.coordinator }];
		const hasResigned = plan
			? await this.carryOut(plan, view, resignation)
			: this.learn((await this.writer.write(resignation, view)).succeeded);
		if (hasResigned) this.close();
		return false;
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
		const { succeeded } = await this.writer.write(
			write === null
				? [{ delete: keys.waiting }]
				: [{ put: keys.waiting, value: encodeRecord(write) }],
			view,
		);
		return this.learn(succeeded);
	}

	/** An agent may coordinate more than once, even under one token: the revision tells its terms apart. */
	private nextPlanId({ revision }: RunView): string {
		return `${this.options.incarnation}.${revision}.${this.plansMade}`;
	}

	private async carryOut(
		plan: Plan,
		view: RunView,
		also: readonly Write[] = [],
	): Promise<boolean> {
		this.plansMade += 1;
		const tryId = this.nextPlanId(view);
		const { succeeded, read } = await this.writer.carryOut(plan, view, {
			tryId,
			also,
		});
		if (read !== undefined && !this.closed) this.options.own?.take(read);
		if (succeeded && plan.kind === "lift") {
			this.synced = plan.round.synced;
			this.memory = rememberLift(plan.round);
		}
		return this.learn(succeeded);
	}

	/** Another etcd under the old address may hold other keys of the same revisions. */
	private learn(isWritten: boolean): boolean {
		if (!isWritten) this.picture.forget();
		return isWritten;
	}
}
