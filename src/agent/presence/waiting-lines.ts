import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import { waitingInWords } from "../../status/index.js";
import {
	type AgentState,
	type Finished,
	type Joining,
	nextClaim,
} from "../machine/state.js";

/** How often an agent logs what it waits for, in milliseconds. */
const LOG_EVERY_MS = 10_000;

/** It waits for its round, or for the others to finish theirs. */
type Waiting = Joining | Finished;

/**
 * While an agent waits for a round, it logs every 10 s which nodes are here and which are missing. The words come from
 * the coordinator's record, which all agents read anyway.
 */
export class WaitingLines {
	private waiting: Waiting | undefined;
	private since = 0;
	/** The newest round that is held back, if that was told. */
	private delayed: number | undefined;
	private cancelTimer: () => void = () => {};

	constructor(
		private readonly options: { readonly clock: Clock; readonly log: Logger },
	) {}

	/** Call it with each new state of the agent. */
	follow(state: AgentState): void {
		const before = this.waiting?.phase;
		this.waiting =
			state.phase === "JOINING" || state.phase === "FINISHED"
				? state
				: undefined;
		if (this.waiting?.phase === before) {
			if (this.waiting !== undefined) this.logDelay(this.waiting);
			return;
		}
		this.cancelTimer();
		if (this.waiting === undefined) return;
		this.since = this.options.clock.now();
		this.logLater();
	}

	/** A restart that is held back is told at once. */
	private logDelay({ view }: Waiting): void {
		const { waiting } = view ?? {};
		const round = waiting?.kind === "delay" ? waiting.round : undefined;
		if (round === undefined || round === this.delayed) return;
		this.delayed = round;
		this.cancelTimer();
		this.logLine();
	}

	close(): void {
		this.waiting = undefined;
		this.cancelTimer();
	}

	private logLater(): void {
		const { clock } = this.options;
		this.cancelTimer = clock.wakeAt(clock.now() + LOG_EVERY_MS, () =>
			this.logLine(),
		);
	}

	private logLine(): void {
		if (this.waiting === undefined) return;
		const { clock, log } = this.options;
		const words = waitingLine(
			this.waiting,
			clock.now() - this.since,
			clock.wallTime(),
		);
		if (words !== undefined) log.info(words);
		this.logLater();
	}
}

/**
 * What an agent logs after waiting this long; undefined: nothing. A spare of a running round waits without limit for no
 * particular node, and a finished agent waits for the unfinished ones.
 */
export function waitingLine(
	state: Waiting,
	waitedMs: number,
	wallTime: number,
): string | undefined {
	const { view } = state;
	if (view === null) return undefined;
	const { round, waiting } = view;
	const isOpen = round.synced <= round.deprecated;
	const hasFinished = state.phase === "FINISHED";
	if (hasFinished && !isOpen) return undefined;
	const claim = hasFinished ? nextClaim(view) : state.claim;
	if (waiting?.instance === round.instance && waiting.round === claim) {
		return waitingInWords(waiting, wallTime);
	}
	return isOpen
		? `waiting for round ${claim} for ${Math.round(waitedMs / 1_000)} s`
		: undefined;
}
