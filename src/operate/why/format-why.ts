import { formatCount, formatRanks } from "../../base/units.js";
import { placeOf, type RankEvidence } from "../../evidence/evidence.js";
import { quote } from "../../evidence/unfinished.js";
import { plainMessage } from "../../logs/plain-text.js";
import type { WhyReport } from "./ask-why.js";

/** The verdict first, then what each rank does, equal stacks once. With a newline at its end. */
export function formatWhy(report: WhyReport): string {
	const { runId, round, verdict, ranks, silent } = report;
	const lines = [
		`run ${runId}, round ${round}: ${headline(report)}`,
		...verdict.suspects.map(
			({ rank, node, why, where }) =>
				`  rank ${rank} on ${node}: ${why}${where === null ? "" : `, at ${where}`}`,
		),
		...(silent.length === 0 ? [] : [`  no answer from ${silent.join(", ")}`]),
		...groupsOf(ranks).flatMap(formatGroup),
	];
	return lines.map((line) => `${plainMessage(line)}\n`).join("");
}

/** A run that makes steps has ranks in many places: then a suspect is only who was met elsewhere at that moment. */
function headline({ phase, verdict, ranks, silent }: WhyReport): string {
	const { kind, suspects, waiting, reason } = verdict;
	if (ranks.length === 0 && silent.length > 0) {
		return "workers run, and no launcher answers: it may be stopped, or busy";
	}
	if (ranks.length === 0 && phase === "running") return "no workers run";
	if (suspects.length === 0) return reason;
	const who = formatRanks(suspects.map(({ rank }) => rank));
	const noun = suspects.length === 1 ? "rank" : "ranks";
	const others =
		waiting.length === 0
			? ""
			: `; ${formatCount(waiting.length, "rank")} ${waiting.length === 1 ? "waits" : "wait"}`;
	return `${noun} ${who}: ${kind}${others}`;
}

interface Group {
	readonly ranks: readonly RankEvidence[];
}

/** Ranks with the same activity and stack. */
function groupsOf(ranks: readonly RankEvidence[]): readonly Group[] {
	const groups = new Map<string, RankEvidence[]>();
	for (const one of ranks) {
		const key = [one.activity, ...one.frames.map(placeOf)].join("\n");
		groups.set(key, [...(groups.get(key) ?? []), one]);
	}
	return [...groups.values()].map((some) => ({ ranks: some }));
}

function formatGroup({ ranks }: Group): readonly string[] {
	const [first] = ranks;
	if (first === undefined) return [];
	const { activity, waitChannel, frames, groups } = first;
	const who = formatRanks(ranks.map(({ rank }) => rank));
	const noun = ranks.length === 1 ? "rank" : "ranks";
	const channel = waitChannel === undefined ? "" : `, waits in ${waitChannel}`;
	return [
		"",
		`${noun} ${who}: ${activity}${channel}`,
		...groups.flatMap(({ unfinished }) =>
			unfinished === undefined ? [] : [`  in ${quote(unfinished)}`],
		),
		...(frames.length === 0
			? ["  no stack is known"]
			: frames.map((frame) => `  ${placeOf(frame)}`)),
	];
}
