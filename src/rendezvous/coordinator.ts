import type { Clock } from "../clock.js";
import type { RunKeys } from "./keys.js";
import { LookLoop } from "./look-loop.js";
import {
	EMPTY_MEMORY,
	type Plan,
	type PlannerConfig,
	type PlannerMemory,
} from "./plan.js";
import { planRound } from "./plan-round.js";
import { encodeRecord } from "./records.js";
import { type RunView, readRunView } from "./run-view.js";
import type { Compare, Store, Watch, Write } from "./store.js";

/** Writes a transaction may hold beside its guards; etcd's limit is 128 operations. */
const BATCH_SIZE = 100;

export interface CoordinatorOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly keys: RunKeys;
	readonly config: PlannerConfig;
	/** Create revision of this agent's `coordinator` key: what every write is guarded by. */
	readonly fencingToken: number;
	/** Distinguishes this agent's plans from all others'. */
	readonly incarnation: string;
	/** A number in [0, 1), by which tries at an unreachable store are spread. */
	readonly random: () => number;
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
	private watch: Watch | undefined;
	private cancelTimer: () => void = () => {};
	private plansMade = 0;
	private reason = "";
	private closed = false;

	constructor(private readonly options: CoordinatorOptions) {
		this.loop = new LookLoop({ ...options, look: () => this.planOnce() });
	}

	get fencingToken(): number {
		return this.options.fencingToken;
	}

	start(): void {
		this.loop.hint();
	}

	close(): void {
		this.closed = true;
		this.loop.close();
		this.watch?.close();
		this.cancelTimer();
	}

	/** Returns whether something was written, so that there may be more to do. */
	private async planOnce(): Promise<boolean> {
		const { store, clock, keys, config } = this.options;
		const snapshot = await store.snapshot([keys.prefix]);
		if (this.closed) return false;
		this.watch ??= store.watch(
			[keys.round, keys.nodes, keys.finished],
			snapshot.revision,
			() => this.loop.hint(),
		);
		const view = readRunView(keys, snapshot);
		if (view === undefined) return false;
		const { plan, memory, until, reason } = planRound(
			view,
			this.memory,
			config,
			this.nextPlanId(view),
			clock.now(),
		);
		this.memory = memory;
		this.wakeAt(until);
		if (reason !== this.reason) this.options.onReason(reason);
		this.reason = reason;
		if (plan === undefined) return false;
		this.plansMade += 1;
		return this.carryOut(plan, view);
	}

	/** An agent may coordinate more than once, even under one token: the revision tells its terms apart. */
	private nextPlanId({ revision }: RunView): string {
		return `${this.options.incarnation}.${revision}.${this.plansMade}`;
	}

	private wakeAt(until: number | undefined): void {
		this.cancelTimer();
		this.cancelTimer =
			until === undefined
				? () => {}
				: this.options.clock.wakeAt(until, () => this.loop.hint());
	}

	private async carryOut(plan: Plan, view: RunView): Promise<boolean> {
		const { keys } = this.options;
		const last: Write[] =
			"round" in plan
				? [{ put: keys.round, value: encodeRecord(plan.round) }]
				: [];
		const others = writesBeside(plan, keys);
		if (others.length + last.length <= BATCH_SIZE) {
			return this.write([...others, ...last], view);
		}
		for (let from = 0; from < others.length; from += BATCH_SIZE) {
			const batch = others.slice(from, from + BATCH_SIZE);
			if (!(await this.write(batch, view))) return false;
		}
		return last.length === 0 || this.write(last, view);
	}

	private async write(
		writes: readonly Write[],
		view: RunView,
	): Promise<boolean> {
		const { store, keys, fencingToken } = this.options;
		const guards: Compare[] = [
			{ key: keys.coordinator, createRevision: fencingToken },
			{ key: keys.round, modRevision: view.roundRevision },
		];
		return (await store.transaction(guards, writes)).succeeded;
	}
}

/** All writes of a plan but the round's. */
function writesBeside(plan: Plan, keys: RunKeys): readonly Write[] {
	switch (plan.kind) {
		case "update":
			return [...plan.budgets].map(([nodeId, budget]) => ({
				put: keys.budget(nodeId),
				value: encodeRecord(budget),
			}));
		case "lift":
		case "refuse":
			return [...plan.seats].map(([nodeId, seat]) => ({
				put: keys.seat(nodeId),
				value: encodeRecord(seat),
			}));
		case "sweep":
			return plan.nodeIds.map((nodeId) => ({ delete: keys.seat(nodeId) }));
		default:
			return plan satisfies never;
	}
}
