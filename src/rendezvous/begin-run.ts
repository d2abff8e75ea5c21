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
	| {
			readonly kind: "late";
			readonly outcome: Outcome;
			readonly round: RoundRecord;
	  }
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
		return { kind: "late", outcome: round.outcome, round };
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

/** What a user sets each field of the spec by. */
const FLAG_OF: Readonly<Record<keyof RunSpec, string>> = {
	version: "the version of elastic-run's records",
	minNodes: "--nnodes",
	maxNodes: "--nnodes",
	policy: "--restart-policy",
	finishedStay: "finishedNodes of --restart-policy",
	isAlone: "--rdzv-backend",
	maxRestarts: "--max-restarts",
	joinTimeoutMs: "--rdzv-conf join_timeout",
	lastCallTimeoutMs: "--rdzv-conf last_call_timeout",
	settleTimeoutMs:
		"--rdzv-conf settle_timeout (unset, it follows --shutdown-timeout)",
	leaseTtlMs: "--rdzv-conf lease_ttl",
};

/** "--nnodes: 1:4 there, 1:8 here", one for each setting that differs. */
function compareSpecs(theirs: RunSpec, mine: RunSpec): readonly string[] {
	const lines = fieldsOf(mine)
		.filter((field) => theirs[field] !== mine[field])
		// It follows from the policy.
		.filter(
			(field) => field !== "finishedStay" || theirs.policy === mine.policy,
		)
		.map(
			(field) =>
				`${FLAG_OF[field]}: ${inWords(field, theirs)} there, ${inWords(field, mine)} here`,
		);
	// MIN and MAX are one setting.
	return [...new Set(lines)];
}

function fieldsOf(spec: RunSpec): readonly (keyof RunSpec)[] {
	const isField = (name: string): name is keyof RunSpec =>
		Object.hasOwn(FLAG_OF, name);
	return Object.keys(spec).filter(isField);
}

function inWords(field: keyof RunSpec, spec: RunSpec): string {
	if (field === "minNodes" || field === "maxNodes") {
		return `${spec.minNodes}:${spec.maxNodes}`;
	}
	if (field === "finishedStay") return spec[field] ? "stay" : "rejoin";
	const value = spec[field];
	return field.endsWith("Ms") ? `${Number(value) / 1000}s` : String(value);
}
