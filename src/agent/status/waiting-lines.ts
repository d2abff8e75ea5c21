import type { Clock } from "../../clock.js";
import { waitingInWords } from "../../rendezvous/waiting-words.js";
import type { Logger } from "../logger.js";
import type { AgentState, Joining } from "../state.js";

/** How often an agent says what it waits for, in milliseconds. */
const SAY_EVERY_MS = 10_000;

/**
 * While an agent waits for a round, one line each 10 s says who is there and
 * who is missing. The words are the coordinator's, which all agents read with
 * the rest: nobody asks the store for them.
 */
export class WaitingLines {
	private joining: Joining | undefined;
	private since = 0;
	private cancelTimer: () => void = () => {};

	constructor(
		private readonly options: { readonly clock: Clock; readonly log: Logger },
	) {}

	/** To be called with each new state of the agent. */
	follow(state: AgentState): void {
		const wasJoining = this.joining !== undefined;
		this.joining = state.phase === "JOINING" ? state : undefined;
		if (this.joining === undefined) this.cancelTimer();
		else if (!wasJoining) {
			this.since = this.options.clock.now();
			this.sayLater();
		}
	}

	private sayLater(): void {
		const { clock } = this.options;
		this.cancelTimer = clock.wakeAt(clock.now() + SAY_EVERY_MS, () =>
			this.say(),
		);
	}

	private say(): void {
		if (this.joining === undefined) return;
		const { clock, log } = this.options;
		const words = waitingLine(
			this.joining,
			clock.now() - this.since,
			clock.wallTime(),
		);
		if (words !== undefined) log.info(words);
		this.sayLater();
	}
}

/**
 * What an agent says after having waited for so long; undefined: nothing. A
 * spare of a round that runs waits without limit, and for nobody in particular.
 */
export function waitingLine(
	{ view, claim }: Joining,
	waitedMs: number,
	wallTime: number,
): string | undefined {
	if (view === null) return undefined;
	const { round, waiting } = view;
	if (waiting?.instance === round.instance && waiting.round === claim) {
		return waitingInWords(waiting, wallTime);
	}
	if (round.synced > round.deprecated) return undefined;
	return `waiting for round ${claim} for ${Math.round(waitedMs / 1_000)} s`;
}
