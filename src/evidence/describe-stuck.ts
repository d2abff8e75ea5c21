import { formatCount, formatRanks } from "../base/units.js";
import type { RankEvidence } from "../model/evidence.js";

/** The report has at most so many lines of it. */
const MOST_LINES = 3;

/**
 * What workers do that were told to end because another one had failed, and have not: one line for each place. Who computes,
 * reads or writes is left out: it may save its state, as it should.
 */
export function describeStuck(
	evidence: readonly RankEvidence[],
): readonly string[] {
	const places = new Map<string, number[]>();
	for (const one of evidence) {
		if (one.activity === "busy" || one.activity === "gone") continue;
		const place = placeOf(one);
		places.set(place, [...(places.get(place) ?? []), one.rank]);
	}
	return [...places].slice(0, MOST_LINES).map(([place, ranks]) => {
		const isOne = ranks.length === 1;
		const verb = isOne ? "was" : "were";
		const noun = isOne ? "rank" : "ranks";
		return `${formatCount(ranks.length, "peer")} ${verb} stuck: ${noun} ${formatRanks(ranks)} ${place}`;
	});
}

function placeOf({ where, activity, waitChannel }: RankEvidence): string {
	const channel = waitChannel === undefined ? "" : ` in ${waitChannel}`;
	const words = {
		stopped: "stopped by SIGSTOP or a debugger",
		blocked: `blocked in the kernel${channel}`,
		idle: where === undefined ? `waiting${channel}` : `at ${where}`,
		busy: "",
		gone: "",
	};
	return words[activity];
}
