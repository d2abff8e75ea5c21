import { ElasticRunError } from "../errors.js";
import {
	type Outcome,
	RECORD_VERSION,
	type RoundRecord,
	type RunSpec,
} from "./records.js";
import type { RunView } from "./run-view.js";

/** What a process that has just started does with the run that it finds under its run id. */
export type Beginning =
	/** Take part in what is there. */
	| { readonly kind: "join"; readonly instance: number }
	/** The run has just ended, and some of its agents are still leaving: exit with its outcome. */
	| { readonly kind: "late"; readonly outcome: Outcome }
	/** Start it anew; round numbers go on from the last start. */
	| { readonly kind: "begin"; readonly round: RoundRecord };

/**
 * @param wallTime milliseconds since 1970, which names a new instance
 * @throws ElasticRunError RENDEZVOUS_FAILED where this agent's settings differ from those of a living run
 */
export function beginRun(
	view: RunView | undefined,
	spec: RunSpec | undefined,
	mine: RunSpec,
	wallTime: number,
): Beginning {
	if (view === undefined)
		return { kind: "begin", round: fresh(0, 0, wallTime) };
	const { round } = view;
	const someoneLives = [...view.nodes.values()].some(
		({ record }) => record.instance === round.instance,
	);
	const differences = spec === undefined ? [] : compareSpecs(spec, mine);
	if (someoneLives && round.outcome !== null) {
		return { kind: "late", outcome: round.outcome };
	}
	if (!someoneLives && (round.outcome !== null || differences.length > 0)) {
		return {
			kind: "begin",
			round: fresh(round.instance, round.synced, wallTime),
		};
	}
	if (differences.length > 0) {
		throw new ElasticRunError(
			"RENDEZVOUS_FAILED",
			`this agent's settings differ from the run's: ${differences.join("; ")}; start it with the run's settings, or give another --run-id`,
		);
	}
	return { kind: "join", instance: round.instance };
}

function fresh(
	previousInstance: number,
	synced: number,
	wallTime: number,
): RoundRecord {
	return {
		version: RECORD_VERSION,
		instance: Math.max(previousInstance + 1, Math.round(wallTime)),
		synced,
		deprecated: synced,
		planId: null,
		seats: 0,
		cause: { kind: "start", changeEvent: null, reason: "start", root: null },
		incidents: 0,
		charged: 0,
		accounted: [],
		world: null,
		outcome: null,
	};
}

/** "maxNodes is 4 there, 8 here", one for each setting that differs. */
function compareSpecs(theirs: RunSpec, mine: RunSpec): readonly string[] {
	const there = new Map<string, unknown>(Object.entries(theirs));
	return Object.entries(mine)
		.filter(([name, value]) => there.get(name) !== value)
		.map(
			([name, value]) => `${name} is ${there.get(name)} there, ${value} here`,
		);
}
