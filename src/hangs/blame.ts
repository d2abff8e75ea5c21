/*
 * The ranks that keep a round from its next step, as one pure function of the
 * evidence of all its nodes. The first rule that names somebody decides.
 *
 *   evidence                                         | suspects            | kind
 *   -------------------------------------------------|---------------------|----------
 *   an uncaught exception of a rank, whose process   | that rank           | hung
 *     has not ended                                  |                     |
 *   SIGSTOP or a debugger holds a rank               | that rank           | stopped
 *   a rank is in kernel state D                      | that rank           | hung
 *   some wait in init_process_group                  | the ranks that have | hung
 *                                                    | not joined; none if |
 *                                                    | all wait there      |
 *   some ranks of a group have entered its oldest    | the ranks that have | hung
 *     unfinished collective, and others have not     | not, and wait in no |
 *                                                    | other group         |
 *   all are inside, with other operations, sizes or  | the smaller part    | mismatch
 *     types                                          |                     |
 *   by their stacks, some wait in a collective and   | the ranks that do   | hung
 *     others do not                                  | not wait for others |
 *   each that has not entered one group's collective | nobody              | mismatch
 *     is inside of another group's                   |                     |
 *   some have made one step less than all others,    | those               | hung
 *     and they are no more than these                |                     |
 *   stacks differ                                    | the smallest part   | hung
 *   one rank stands still, others have ended         | that rank           | hung
 *   anything else                                    | nobody              | hung
 *
 * Where one that holds up the others computes, reads or writes, the round is
 * slow instead of hung; without a suspect this may be any rank. Two parts of
 * one size point to nobody: a guess is not presented as knowledge. Steps count
 * more than stacks, because a rank that waits may poll: its stack then depends
 * on the moment.
 *
 * Where others make steps, each rank that makes none is judged by itself:
 *
 *   it                                     | verdict
 *   ---------------------------------------|-------------------
 *   is stopped                             | stopped
 *   is in kernel state D                   | hung
 *   waits for other ranks                  | it waits: none
 *   computes, reads or writes              | slow
 *   does nothing of that                   | hung
 */

import type { HangKind, RankEvidence, Suspect } from "../model/index.js";
import {
	type Accusation,
	joins,
	partsOf,
	some,
	type Verdict,
	waits,
	waitsForData,
	waitsForOthers,
} from "./accusation.js";
import { circle, mismatch, notEntered } from "./collectives.js";

/**
 * @param evidence of every rank that a node has told of
 * @param isWhole whether all nodes of the round that stand still have told
 */
export function blame(
	evidence: readonly RankEvidence[],
	isWhole: boolean,
): Verdict {
	const ranks = [...evidence].sort((left, right) => left.rank - right.rank);
	const accusation =
		raised(ranks) ??
		stopped(ranks) ??
		blocked(ranks) ??
		notJoined(ranks) ??
		notEntered(ranks) ??
		mismatch(ranks) ??
		notWaiting(ranks) ??
		circle(ranks) ??
		(isWhole ? oneStepBehind(ranks) : undefined) ??
		otherStack(ranks) ??
		(isWhole ? alone(ranks) : undefined);
	if (accusation === undefined) return nobody(ranks);
	const accused = new Set(accusation.ranks);
	const suspects = accusation.ranks.map((one) => asSuspect(one, accusation));
	const isSlow =
		accusation.kind === "hung" &&
		accusation.ranks.some(({ activity }) => activity === "busy");
	return {
		kind: isSlow ? "slow" : accusation.kind,
		suspects,
		waiting: waitingAmong(ranks.filter((one) => !accused.has(one))),
		reason: accusation.reason,
	};
}

function asSuspect(one: RankEvidence, { why }: Accusation): Suspect {
	const { rank, nodeId: node, activity } = one;
	// Where its exit is held up is not why it ends.
	const where = one.raised === undefined ? (one.where ?? null) : null;
	const data = waitsForData(one) ? "; it waits for its data loader" : "";
	const doing = activity === "busy" ? "; it computes, reads or writes" : "";
	return { rank, node, why: `${why(one)}${data}${doing}`, where };
}

function nobody(ranks: readonly RankEvidence[]): Verdict {
	const isSlow = ranks.some(({ activity }) => activity === "busy");
	return {
		kind: isSlow ? "slow" : "hung",
		suspects: [],
		waiting: waitingAmong(ranks),
		reason: "no suspect: nothing that is known sets one rank apart",
	};
}

/** What it waits for while it ends may be the other ranks. */
function raised(ranks: readonly RankEvidence[]): Accusation | undefined {
	const ending = ranks.filter(
		({ raised, activity }) => raised !== undefined && activity !== "gone",
	);
	return some(ending, {
		kind: "hung",
		reason: "an exception ends it, and it has not ended",
		why: ({ raised }) => `it has not ended after ${raised}`,
	});
}

function waitingAmong(ranks: readonly RankEvidence[]): readonly number[] {
	return ranks.filter(waitsForOthers).map(({ rank }) => rank);
}

function stopped(ranks: readonly RankEvidence[]): Accusation | undefined {
	const held = ranks.filter(({ activity }) => activity === "stopped");
	return some(held, {
		kind: "stopped",
		reason: "a signal or a debugger has stopped it",
		why: () => "stopped by SIGSTOP or a debugger (kernel state T)",
	});
}

function blocked(ranks: readonly RankEvidence[]): Accusation | undefined {
	const stuck = ranks.filter(({ activity }) => activity === "blocked");
	return some(stuck, {
		kind: "hung",
		reason: "the kernel waits for a device or a file system",
		why: ({ waitChannel = "unknown" }) =>
			`in kernel state D, which no signal ends (it waits in ${waitChannel})`,
	});
}

/** A group begins when all its ranks have joined it. */
function notJoined(ranks: readonly RankEvidence[]): Accusation | undefined {
	if (!ranks.some(joins)) return undefined;
	const missing = ranks.filter(
		(one) => !joins(one) && one.processGroup !== "joined",
	);
	return {
		kind: "hung",
		reason:
			missing.length > 0
				? "the others wait for it in init_process_group"
				: "no suspect: all that are known wait in init_process_group, and do not meet there",
		ranks: missing,
		why: ({ where }) =>
			where === undefined
				? "it has not joined the process group"
				: `it has not joined the process group; it is at ${where}`,
	};
}

function notWaiting(ranks: readonly RankEvidence[]): Accusation | undefined {
	if (!ranks.some((one) => waits(one) === true)) return undefined;
	return some(
		ranks.filter((one) => waits(one) === false),
		{
			kind: "hung",
			reason: "the others wait for it in a collective, by their stacks",
			why: () =>
				"its stack does not wait for other ranks, and those of others do",
		},
	);
}

/** Part by the innermost frames: equal programs at the same place have the same. */
function otherStack(ranks: readonly RankEvidence[]): Accusation | undefined {
	const known = ranks.filter(({ activity }) => activity !== "gone");
	const parts = partsOf(known, ({ frames }) =>
		frames
			.slice(0, 5)
			.map(({ file, line }) => `${file}:${line}`)
			.join(" "),
	);
	const [nextFewest, fewest] = parts.slice(-2);
	if (nextFewest === undefined || fewest === undefined) return undefined;
	const [stack, ranksThere] = fewest;
	if (ranksThere.length === nextFewest[1].length || stack === "")
		return undefined;
	return some(ranksThere, {
		kind: "hung",
		reason: "its stack differs from that of most ranks",
		why: () => "its stack differs from that of most ranks",
	});
}

/** The others have made the step and wait for them to make it too. Ranks that count otherwise are further apart. */
function oneStepBehind(ranks: readonly RankEvidence[]): Accusation | undefined {
	const known = ranks.filter(({ activity }) => activity !== "gone");
	const steps = known.flatMap(({ step }) => step ?? []);
	const last = Math.max(...steps);
	const ahead = known.filter(({ step }) => step === last);
	const behind = known.filter(({ step }) => step === last - 1);
	const isClear = ahead.length + behind.length === known.length;
	if (!isClear || behind.length > ahead.length) return undefined;
	return some(behind, {
		kind: "hung",
		reason: `all others have made step ${last}`,
		why: () => `it has not made step ${last}, and all others have`,
	});
}

/** All others have ended. Where it waits for one of them, that may be their fault as well. */
function alone(ranks: readonly RankEvidence[]): Accusation | undefined {
	const left = ranks.filter(({ activity }) => activity !== "gone");
	const [last] = left;
	if (last === undefined || left.length > 1) return undefined;
	if (ranks.length > 1 && waits(last) === true) return undefined;
	return some(left, {
		kind: "hung",
		reason: "it is the only rank that makes no step",
		why: () =>
			ranks.length > 1
				? "it makes no step, and all others have ended"
				: "it is the only rank that makes no step",
	});
}

/** The verdict on ranks that make no step while others of their node do; undefined if all of them only wait. */
export function blameAlone(
	evidence: readonly RankEvidence[],
): Verdict | undefined {
	const ranks = evidence.filter(standsStill);
	const held = ranks.filter(({ activity }) => activity === "stopped");
	const idle = ranks.filter(({ activity }) => activity !== "busy");
	const [accused, kind]: [readonly RankEvidence[], HangKind] =
		held.length > 0
			? [held, "stopped"]
			: idle.length > 0
				? [idle, "hung"]
				: [ranks, "slow"];
	if (accused.length === 0) return undefined;
	const reason = "it makes no step, and others do";
	const why = (one: RankEvidence) =>
		(stopped([one]) ?? blocked([one]))?.why(one) ?? reason;
	const about = { kind, reason, ranks: accused, why };
	return {
		kind,
		suspects: accused.map((one) => asSuspect(one, about)),
		waiting: [],
		reason,
	};
}

/** Where the kernel says nothing, nothing is known. */
function standsStill(one: RankEvidence): boolean {
	const { activity, threads } = one;
	if (activity === "gone" || threads === undefined) return false;
	const isHeld = activity === "stopped" || activity === "blocked";
	return isHeld || !waitsForOthers(one);
}
