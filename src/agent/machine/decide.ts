/*
 * What an agent does, as one pure function of its state and one input. An input only changes facts, and may leave a matter
 * that must be answered. The first row that holds then decides, and says why in words, until nothing follows. What the
 * shell has to do is the difference between the facts before and after.
 *
 * 1. Everything that decides is in this folder; nothing awaits, logs, reads a clock or draws a random number.
 * 2. A deadline is a fact; the shell holds one timer, at the earliest. One that is due is cleared or moved.
 * 3. A matter is answered once. A row with one in its second column holds for that only.
 * 4. An input that means nothing in a phase leaves no matter.
 *
 *   row            | answers      | holds when                                                                    | phase                    | workers
 *   ---------------|--------------|-------------------------------------------------------------------------------|--------------------------|--------
 *   noTime         | -            | its machine goes, and no round is worth it any more                           | STOPPING CLOSED          | end, once they are ready or their time is over
 *   over           | -            | the run has an outcome, another instance of it began, or this node is refused | STOPPING CLOSED          | end
 *   stopAtOnce     | stop-asked   | it is asked to stop at once                                                   | STOPPING CLOSED          | are killed
 *   stop           | stop-asked   | it is asked to stop                                                           | STOPPING FINISHED CLOSED | end within the grace
 *   cutOff         | session-lost | its lease cannot be relied on                                                 | STOPPING                 | as the policy's scale-down, dead by the end of the lease
 *   timeOver       | -            | its machine goes: the time of the workers is over, or one has ended           | STOPPING FINISHED        | end, or keep their time
 *   allReady       | saved        | its machine goes, and all workers are ready to end                            | STOPPING                 | end
 *   noticed        | noticed      | its machine goes, and another round is worth it                               | any                      | learn of it
 *   machineStays   | stays        | its machine stays after all                                                   | any                      | pause or end, if the round was left for the notice
 *   failed         | failed       | a worker has failed                                                           | RUNNING STOPPING         | as the policy, or a rule, decides
 *   unexplained    | unexplained  | a worker has died, and the reason may follow                                  | RUNNING STOPPING         | go on for half a second
 *   leftBehind     | left-behind  | a worker has ended with 0, and others of its group have not                   | RUNNING                  | the others end within the grace
 *   endedLate      | ended-late   | a worker has ended with 0 at its PAUSE, when the next round ran               | STOPPING                 | as the policy's scale-down
 *   notKept        | not-kept     | a paused worker has ended with 0, or cannot be notified                       | STOPPING                 | pause, without this one
 *   notExplained   | due          | no reason has followed                                                        | STOPPING                 | as for `failed`
 *   roundRequested | due          | a worker has waited for another round for 2 s                                 | RUNNING STOPPING         | as the policy's scale-down
 *   overdue        | due          | a worker has not left its round in time                                       | STOPPING                 | pause, without this one, or as for `failed`
 *   silent         | due          | a worker does not answer its first PAUSE                                      | STOPPING                 | go on; the user is warned
 *   unkillable     | due          | a process survives SIGKILL                                                    | RUNNING STOPPING CLOSED  | end
 *   graceOver      | due          | the grace of a worker is over                                                 | RUNNING STOPPING         | are killed, if it is theirs
 *   secondSignal   | due          | half of the grace after another signal is over                                | STOPPING                 | get SIGTERM
 *   nextOfOthers   | seen         | the round begins that another role has left                                   | RUNNING STOPPING         | work on in it
 *   finishedNext   | seen         | the same, and its workers have succeeded                                      | FINISHED                 | -
 *   roundLeft      | seen         | its round is to be left                                                       | RUNNING STOPPING         | as the policy decides, or work on if another role restarts
 *   holdOver       | -            | workers that keep their time are ready, or it is over                         | STOPPING                 | end
 *   noRound        | -            | it leaves the run, and workers are paused                                     | STOPPING                 | end
 *   leavingKnown   | -            | it leaves the run, none is left, and the others know or had 2 s               | STOPPING CLOSED          | -
 *   finished       | -            | all workers of the round have succeeded                                       | FINISHED                 | -
 *   finishedKnown  | -            | it has finished and leaves; the store knows that, or had 2 s                  | CLOSED                   | -
 *   passed         | -            | the round that it claims is to be left                                        | JOINING                  | stay paused
 *   recreated      | -            | its round is over, none is kept, and this process had its round               | STOPPING                 | -
 *   ready          | -            | its round is over, and none is left but paused ones                           | JOINING                  | stay paused
 *   seated         | -            | the round that it claims runs, with a seat for it                             | RUNNING                  | start, or get WORK if they are paused
 *   spare          | -            | the round that it claims runs, without a seat for it                          | JOINING                  | stay paused
 */

import { difference } from "./effects.js";
import * as failures from "./failures.js";
import type {
	AgentEffect,
	AgentInput,
	Matter,
	TransitionContext,
} from "./inputs.js";
import { learn } from "./learn.js";
import * as leaving from "./leaving.js";
import type { Answer, Decision, Row } from "./moves.js";
import * as rounds from "./rounds.js";
import type { AgentState, Facts } from "./state.js";

export interface Transition {
	readonly state: AgentState;
	readonly effects: readonly AgentEffect[];
	/** Why, in words; empty if nothing was decided. */
	readonly reason: string;
}

function on<Kind extends Matter["kind"]>(kind: Kind, row: Answer<Kind>): Row {
	const isOfKind = (
		matter: Matter | undefined,
	): matter is Matter & { kind: Kind } => matter?.kind === kind;
	return (facts, context, matter) =>
		isOfKind(matter) ? row(facts, context, matter) : undefined;
}

/** In order: the first row that holds decides. */
export const TABLE: Readonly<Record<string, Row>> = {
	noTime: leaving.noTime,
	over: leaving.over,
	stopAtOnce: on("stop-asked", leaving.stopAtOnce),
	stop: on("stop-asked", leaving.stop),
	cutOff: on("session-lost", rounds.cutOff),
	timeOver: leaving.timeOver,
	allReady: on("saved", leaving.allReady),
	noticed: on("noticed", leaving.noticed),
	machineStays: on("stays", leaving.machineStays),
	failed: on("failed", failures.failed),
	unexplained: on("unexplained", failures.unexplained),
	leftBehind: on("left-behind", failures.leftBehind),
	endedLate: on("ended-late", rounds.endedLate),
	notKept: on("not-kept", failures.notKept),
	notExplained: on("due", failures.notExplained),
	roundRequested: on("due", failures.roundRequested),
	overdue: on("due", failures.overdue),
	silent: on("due", failures.silent),
	unkillable: on("due", failures.unkillable),
	graceOver: on("due", failures.graceOver),
	secondSignal: on("due", failures.secondSignal),
	nextOfOthers: on("seen", rounds.nextOfOthers),
	finishedNext: on("seen", rounds.finishedNext),
	roundLeft: on("seen", rounds.roundLeft),
	holdOver: leaving.holdOver,
	noRound: leaving.noRound,
	leavingKnown: leaving.leavingKnown,
	finished: rounds.finished,
	finishedKnown: leaving.finishedKnown,
	passed: rounds.passed,
	recreated: rounds.recreated,
	ready: rounds.ready,
	seated: rounds.seated,
	spare: rounds.spare,
};

/** More decisions for one input are a bug. */
const MOST_DECISIONS = 10;

/**
 * What an agent does, as one pure function of its state and one input: it learns what the input says, and decides until
 * nothing changes. The effects are the difference.
 */
export function transition(
	state: AgentState,
	input: AgentInput,
	context: TransitionContext,
): Transition {
	if (state.phase === "CLOSED") return { state, effects: [], reason: "" };
	const { facts, matter } = learn(state, input, context);
	const settled = settle(facts, context, matter);
	const { why, warnings } = settled;
	const { notices } = state;
	const before = facts.notices === notices ? facts : { ...facts, notices };
	const warn = (message: string) => ({ kind: "warn", message }) as const;
	return {
		state: stateOf(settled.facts),
		effects: [...difference(before, settled.facts, why), ...warnings.map(warn)],
		reason: why,
	};
}

/** Decides until nothing follows. The first words stay, unless later ones are better. */
function settle(learnt: Facts, context: TransitionContext, about?: Matter) {
	if (about === undefined) return { facts: learnt, why: "", warnings: [] };
	let facts = learnt;
	let matter: Matter | undefined = about;
	let words: Decision | undefined;
	const warnings: string[] = [];
	for (let count = 0; count < MOST_DECISIONS; count += 1) {
		const decision = decide(facts, context, matter);
		if (decision !== undefined) {
			facts = decision.facts;
			matter = undefined;
			warnings.push(...(decision.warnings ?? []));
			if (!words?.why || words.isWeak) words = decision.why ? decision : words;
		}
		if (!decision || decision.rests || facts.phase === "CLOSED") {
			return { facts, why: words?.why ?? "", warnings };
		}
	}
	throw new Error(`the node's table comes to no end after ${about.kind}`);
}

const ROWS = Object.entries(TABLE);

/** The first row that holds, with its name. */
export function decide(
	...about: Parameters<Row>
): (Decision & { readonly row: string }) | undefined {
	for (const [row, decides] of ROWS) {
		const decision = decides(...about);
		if (decision !== undefined) return { ...decision, row };
	}
	return undefined;
}

/** The facts as the state of their phase. */
function stateOf(facts: Facts): AgentState {
	const { phase, seat, planId, ending } = facts;
	switch (phase) {
		case "RUNNING":
			if (seat !== null) return { ...facts, phase, seat };
			break;
		case "FINISHED":
			if (planId !== undefined) return { ...facts, phase, planId };
			break;
		case "CLOSED":
			if (ending !== undefined) return { ...facts, phase, ending };
			break;
		default:
			return { ...facts, phase };
	}
	throw new Error(`a node cannot be ${phase} without what it needs`);
}
