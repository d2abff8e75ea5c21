import { formatCount, formatDuration, formatRanks } from "../base/units.js";
import { ownFrames } from "../failures/index.js";
import type { Frame, RankEvidence, Suspect } from "../model/index.js";
import { type Verdict, waitsForOthers } from "./accusation.js";
import { blame } from "./blame.js";
import type { Standstill } from "./standstill.js";

/** The node of the lowest rank. */
export function firstOf(evidence: readonly RankEvidence[]): string | undefined {
	return [...evidence].sort((left, right) => left.rank - right.rank)[0]?.nodeId;
}

/** Why a worker is ended that makes no step, as rules name it. */
export function causeOf(
	{ start }: Pick<Standstill, "start">,
	{ kind }: Pick<Verdict, "kind">,
): "hang" | "slow" | "start" {
	if (start !== undefined) return "start";
	return kind === "slow" ? "slow" : "hang";
}

/**
 * How much longer workers may be slow, in milliseconds; 0: their time is over. An evaluation makes no step either: where
 * nobody has asked for a limit of the start, it ends no worker that computes.
 */
export function slowFor({
	stillMs,
	slowMs,
	start,
}: Pick<Standstill, "stillMs" | "slowMs" | "start">): number {
	const leftMs = Math.max(0, slowMs - stillMs);
	return start?.isUsual && leftMs === 0 ? slowMs : leftMs;
}

/** Where a worker has not made its first step, it is the suspect, unless it waits: others may wait for it in vain. */
export function hangVerdict(
	{ start }: Pick<Standstill, "start">,
	evidence: readonly RankEvidence[],
	{ nodeId, isWhole }: { readonly nodeId: string; readonly isWhole: boolean },
): Verdict {
	const verdict = blame(evidence, isWhole);
	if (verdict.suspects.length > 0) return verdict;
	const one = evidence.find(
		({ nodeId: node, localRank }) =>
			node === nodeId && localRank === start?.localRank,
	);
	if (one === undefined || waitsForOthers(one)) return verdict;
	const { rank, nodeId: node, where = null } = one;
	const why = "it has not made its first step";
	return {
		...verdict,
		suspects: [{ rank, node, why, where }],
		waiting: verdict.waiting.filter((other) => other !== rank),
	};
}

/** How a hang is told: the failure's description, and at most five lines of evidence. */
export interface HangWords {
	/** "hung for 61 s at train.py:41 in load_batch". */
	readonly description: string;
	readonly lines: readonly string[];
}

const MOST_FRAMES = 3;

/**
 * @param stillMs how long no step has come
 * @param suspect whom the failure is attributed to; undefined if there is no suspect
 * @param directory where the evidence of this node is; undefined if it could not be written
 */
export function describeHang(
	verdict: Verdict,
	evidence: readonly RankEvidence[],
	{
		stillMs,
		suspect,
		directory,
	}: {
		readonly stillMs: number;
		readonly suspect: Suspect | undefined;
		readonly directory: string | undefined;
	},
): HangWords {
	const { kind, waiting, reason } = verdict;
	const lasting = lastingWords(verdict, stillMs);
	const place = suspect?.where ? ` at ${suspect.where}` : "";
	const why = `: ${suspect?.why ?? reason}`;
	// Without a stack the reason is all that is known.
	const where = place === "" ? why : place;
	const what = {
		hung: where,
		slow: where,
		stopped: why,
		mismatch: `${place}${why}`,
	}[kind];
	// Of a mismatch the reason names no rank either.
	const isReason = suspect === undefined && kind === "mismatch";
	const description =
		suspect === undefined && !isReason
			? `${lasting}, no suspect: this rank only stands for all`
			: `${lasting}${what}`;
	const own = evidence.find(({ rank }) => rank === suspect?.rank);
	const said = suspect === undefined ? reason : `suspect: ${suspect.why}`;
	const lines = [
		...(isReason ? [] : [said]),
		...waitingLine(waiting),
		...stepLine(own, evidence),
		...stackLine(own),
		...(directory === undefined ? [] : [`evidence: ${directory}`]),
	];
	return { description, lines };
}

/** The same for a rank that is ended because the suspect's node did not end the suspect. */
export function asStandIn(
	{ lines }: HangWords,
	{ rank, node }: Suspect,
	verdict: Verdict,
	stillMs: number,
): HangWords {
	const lasting = lastingWords(verdict, stillMs);
	return {
		description: `${lasting}: this rank only stands for rank ${rank} on ${node}`,
		lines: [`${node} did not end its rank ${rank}`, ...lines],
	};
}

function lastingWords({ kind }: Verdict, stillMs: number): string {
	const word = kind === "slow" ? "slow: no step" : "hung";
	return `${word} for ${inSeconds(stillMs)}`;
}

/** Whole seconds: a failure's first line is read by people and by programs. */
function inSeconds(ms: number): string {
	return ms < 100_000 ? `${Math.round(ms / 1_000)} s` : formatDuration(ms);
}

function waitingLine(waiting: readonly number[]): readonly string[] {
	if (waiting.length === 0) return [];
	const noun = waiting.length === 1 ? "rank" : "ranks";
	return [
		`${noun} ${formatRanks(waiting)} ${waiting.length === 1 ? "waits" : "wait"}`,
	];
}

function stepLine(
	own: RankEvidence | undefined,
	evidence: readonly RankEvidence[],
): readonly string[] {
	const steps = evidence.flatMap(({ step }) => step ?? []);
	if (steps.length === 0) return ["no step was made"];
	const most = Math.max(...steps);
	return own?.step === undefined
		? [`last step: ${most}`]
		: [`last step: ${own.step} (the furthest rank: ${most})`];
}

function stackLine(own: RankEvidence | undefined): readonly string[] {
	if (own === undefined || own.frames.length === 0) return [];
	const frames = ownFrames(own.frames);
	const shown = frames.slice(0, MOST_FRAMES).map(frameWords);
	const more = frames.length - shown.length;
	const rest = more > 0 ? ` < ${formatCount(more, "more frame")}` : "";
	const [inmost] = own.frames;
	const called =
		inmost === undefined || frames.includes(inmost)
			? ""
			: `, and from there in ${frameWords(inmost)}`;
	return [`stack: ${shown.join(" < ")}${rest}${called}`];
}

function frameWords({ file, line, function: name }: Frame): string {
	return `${name} (${file}:${line})`;
}
