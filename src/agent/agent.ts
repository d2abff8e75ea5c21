import type { Clock } from "../base/clock.js";
import type { Logger } from "../base/logger.js";
import type {
	Intent,
	Membership,
	NewIntent,
	Reached,
} from "../rendezvous/index.js";
import { RoundHistory } from "../status/index.js";
import { transition } from "./machine/decide.js";
import type {
	AgentEffect,
	AgentInput,
	TransitionContext,
} from "./machine/inputs.js";
import { intentOf } from "./machine/record.js";
import {
	type AgentState,
	deadlineOf,
	type Ending,
	INITIAL_STATE,
	type Running,
} from "./machine/state.js";
import { WaitingLines } from "./presence/waiting-lines.js";
import { isFailure } from "./workers/worker.js";
import type { WorkerGroup } from "./workers/worker-group.js";

/** The agent's settings that its decisions depend on. */
export type AgentSettings = Omit<TransitionContext, "now" | "wallTime">;

export interface AgentOptions {
	readonly clock: Clock;
	readonly log: Logger;
	readonly settings: AgentSettings;
	readonly membership: Pick<Membership, "publish">;
	readonly workers: Pick<
		WorkerGroup,
		"start" | "pause" | "notice" | "terminate" | "kill"
	>;
	/** Where inputs come in. Default: one of its own. */
	readonly inbox?: Inbox;
	/** How far the workers came in their newest round. */
	readonly steps?: WorkerSteps;
	readonly onState?: ((state: AgentState) => void) | undefined;
	/** Called on a bug: the agent cannot continue, and its workers must be ended. */
	readonly onError: (error: unknown) => void;
}

/** How far a node's workers came. */
export interface WorkerSteps {
	/** In their newest round; undefined if no worker counts steps. */
	readonly reached: Reached | undefined;
	/** The last step of the worker in this place; undefined if it reports none. */
	stepOf(localRank: number): number | undefined;
}

/** Keeps inputs in order until the agent takes them: those that come before the agent is there, and those that come during another. */
export class Inbox {
	private readonly inputs: AgentInput[] = [];
	private wake: () => void = () => {};

	readonly dispatch = (input: AgentInput): void => {
		this.inputs.push(input);
		this.wake();
	};

	/** Calls `wake` now, and whenever there is a further input. */
	open(wake: () => void): void {
		this.wake = wake;
		wake();
	}

	/** Drops all inputs from now on. */
	close(): void {
		this.open(() => this.inputs.splice(0));
	}

	take(): AgentInput | undefined {
		return this.inputs.shift();
	}

	get isEmpty(): boolean {
		return this.inputs.length === 0;
	}
}

/**
 * The shell around `transition`: feeds it one input at a time, carries out the effects, and updates the record and the
 * one timer from the state.
 */
export class Agent {
	readonly history = new RoundHistory();
	/** Resolves with how the run ended for this agent, once its workers are gone. */
	readonly ended: Promise<Ending>;
	private resolveEnded: (ending: Ending) => void = () => {};
	private state: AgentState = INITIAL_STATE;
	private readonly inbox: Inbox;
	private working = false;
	private cancelTimer: () => void = () => {};
	/** When the timer fires; undefined if there is none. */
	private wakesAt: number | undefined;
	private published: Intent | null = null;
	private readonly waitingLines: WaitingLines;
	private readonly warnings = new Set<string>();

	constructor(private readonly options: AgentOptions) {
		this.inbox = options.inbox ?? new Inbox();
		this.waitingLines = new WaitingLines(options);
		this.ended = new Promise((resolve) => {
			this.resolveEnded = resolve;
		});
		this.inbox.open(this.work);
	}

	/** Takes one input. Inputs that come during another wait their turn. */
	readonly dispatch = (input: AgentInput): void => this.inbox.dispatch(input);

	private readonly work = (): void => {
		if (this.working || this.inbox.isEmpty) return;
		this.working = true;
		try {
			// Publishing may check the lease and find that it has ended.
			do {
				this.foldInbox();
				// Only now: a failed effect is an input too, and the published record must be final.
				this.publish();
			} while (!this.inbox.isEmpty);
		} catch (error) {
			this.options.onError(error);
		} finally {
			this.working = false;
		}
	};

	/** Stops for good: an error has ended its part. */
	close(): void {
		this.inbox.close();
		this.cancelTimer();
		this.waitingLines.close();
	}

	private foldInbox(): void {
		for (let next = this.inbox.take(); next; next = this.inbox.take()) {
			this.step(this.withStep(next));
		}
	}

	/** Adds to a worker's failure how far it had come. */
	private withStep(input: AgentInput): AgentInput {
		const { steps } = this.options;
		if (steps === undefined || !isFailure(input)) return input;
		return { ...input, step: steps.stepOf(input.localRank) };
	}

	private step(input: AgentInput): void {
		const { clock, settings, workers } = this.options;
		const before = this.state;
		const now = clock.now();
		const { state, effects, reason } = transition(before, input, {
			...settings,
			now,
			wallTime: clock.wallTime(),
		});
		this.state = state;
		this.record(before, state, reason, now);
		for (const effect of effects) {
			switch (effect.kind) {
				case "start-workers":
					this.startWorkers(effect);
					break;
				case "pause":
					workers.pause(effect.localRanks, effect);
					break;
				case "warn":
					this.warn(effect.message);
					break;
				case "tell-notice":
					workers.notice(effect.localRanks, effect);
					break;
				case "terminate":
					workers.terminate(effect.localRanks, effect.signal);
					break;
				case "kill":
					workers.kill(effect.localRanks);
					break;
				default:
					effect satisfies never;
			}
		}
		this.armTimer();
		this.waitingLines.follow(state);
		this.options.onState?.(state);
		if (state.phase === "CLOSED" && before.phase !== "CLOSED") {
			this.resolveEnded(state.ending);
		}
	}

	private startWorkers(effect: AgentEffect & { kind: "start-workers" }): void {
		const { round, seat, kept, ended } = effect;
		const { clock, workers } = this.options;
		workers.start(round, seat, kept, ended);
		const worldSize = round.world?.worldSize ?? 0;
		const now = clock.now();
		this.history.started(round.synced, worldSize, now, clock.wallTime());
	}

	private record(
		before: AgentState,
		after: AgentState,
		reason: string,
		now: number,
	): void {
		const moved = before.phase !== after.phase;
		if (beginsNext(before, after)) this.history.ended(reason, now);
		if (moved) this.recordEnd(before, after, reason, now);
		if (!moved && reason === "") return;
		const path = moved ? `${before.phase}→${after.phase}` : after.phase;
		this.options.log.info(`${path} ${reason}`.trim(), {
			round: after.view?.round.synced ?? 0,
		});
	}

	/** A round that this node has finished may still fail elsewhere; then that is its end. */
	private recordEnd(
		before: AgentState,
		after: AgentState,
		reason: string,
		now: number,
	): void {
		if (before.phase === "RUNNING") {
			if (after.phase === "FINISHED") this.history.finished(reason, now);
			else {
				const wallTime = this.options.clock.wallTime();
				const noticedAfterMs = unseenMs(before, after, wallTime);
				this.history.ended(reason, now, noticedAfterMs);
			}
		} else if (before.phase === "FINISHED") {
			if (after.phase !== "CLOSED") {
				this.history.ended(after.view?.round.cause.reason ?? reason, now);
			} else if (after.ending.outcome === "failed") {
				this.history.ended(after.ending.reason, now);
			}
		}
	}

	private warn(message: string): void {
		if (this.warnings.has(message)) return;
		this.warnings.add(message);
		this.options.log.warn(message);
	}

	private publish(): void {
		const intent = intentOf(this.state);
		if (isSameIntent(intent, this.published)) return;
		const wallTime = this.options.clock.wallTime();
		const reached = this.options.steps?.reached;
		this.published = intentAt(intent, this.published, wallTime, reached);
		this.options.membership.publish(this.published);
	}

	private armTimer(): void {
		const deadline = deadlineOf(this.state);
		if (deadline === this.wakesAt) return;
		this.cancelTimer();
		this.wakesAt = deadline;
		if (deadline === undefined) return;
		this.cancelTimer = this.options.clock.wakeAt(deadline, () => {
			this.wakesAt = undefined;
			this.dispatch({ kind: "time-passed" });
		});
	}
}

/** Whether two intents differ only in times that follow from the rest. */
function isSameIntent(left: NewIntent | null, right: Intent | null): boolean {
	if (left === null || right === null) return left === right;
	return (
		left.state === right.state &&
		left.claim === right.claim &&
		left.failure === right.failure &&
		left.fencedIn === right.fencedIn &&
		left.cause === right.cause &&
		left.runsOn === right.runsOn &&
		left.awaitsWorkersMs === right.awaitsWorkersMs &&
		left.finishedPlan === right.finishedPlan &&
		left.notice === right.notice &&
		left.departure === right.departure &&
		left.pids.length === right.pids.length &&
		left.pids.every((pid, at) => pid === right.pids[at])
	);
}

/**
 * The agent's intended record, with its times.
 * @param before the previous intent
 * @param wallTime milliseconds since 1970
 * @param reached how far its workers came in their newest round
 */
export function intentAt(
	intent: NewIntent | null,
	before: Intent | null,
	wallTime: number,
	reached?: Reached,
): Intent | null {
	if (intent === null) return null;
	const { state } = intent;
	const isSame = state === before?.state;
	const since = isSame ? before.since : wallTime;
	if (state === "running") return { ...intent, since };
	const ran =
		before?.state === "running"
			? { ranSince: before.since, ranUntil: wallTime }
			: { ranSince: before?.ranSince, ranUntil: before?.ranUntil };
	return { ...intent, since, ...ran, reached };
}

/**
 * How long ago the first sign was that this agent's round ends, in milliseconds.
 * @param wallTime milliseconds since 1970
 */
function unseenMs(
	before: Running,
	{ view, failure }: AgentState,
	wallTime: number,
): number {
	if (failure !== null && failure !== before.failure) {
		return Math.max(0, wallTime - failure.failure.timestamp);
	}
	const { deprecated = 0, cause } = view?.round ?? {};
	return deprecated >= before.round ? (cause?.noticedAfterMs ?? 0) : 0;
}

/** Whether its workers run on in another round. */
function beginsNext(before: AgentState, after: AgentState): boolean {
	const areRunning = before.phase === "RUNNING" && after.phase === "RUNNING";
	return areRunning && before.round !== after.round;
}
