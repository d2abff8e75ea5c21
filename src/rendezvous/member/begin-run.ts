import { ElasticRunError } from "../../base/errors.js";
import type { RunCommand } from "../../model/index.js";
import { ridersInWords, unseenRiders } from "../planner/riders.js";
import {
	type Outcome,
	RECORD_VERSION,
	type RoundRecord,
} from "../records/records.js";
import {
	compareCommands,
	type OwnCommand,
	type RunSpec,
} from "../records/run-spec.js";
import type { RunView } from "../records/run-view.js";

/** What a new process does about the run with its run id. */
export type Beginning =
	/** Join the existing run. */
	| {
			readonly kind: "join";
			readonly instance: number;
			/** How this agent's command differs from the run's command for its role. */
			readonly otherCommand: readonly string[];
	  }
	/** The run has just ended, and some of its agents are still leaving: exit with its outcome. */
	| {
			readonly kind: "late";
			readonly outcome: Outcome;
			readonly round: RoundRecord;
	  }
	/** Agents of this run that are not like this one may live: wait until they are gone. */
	| {
			readonly kind: "wait";
			readonly why: string;
			/** How long at most, in milliseconds; absent: until their records are gone. */
			readonly lastMs?: number;
	  }
	/** Start the run again; round numbers continue from the last start. */
	| { readonly kind: "begin"; readonly round: RoundRecord };

/** The command of this agent, and the run's command for its role. */
interface Commands {
	readonly mine: OwnCommand;
	readonly theirs: RunCommand | undefined;
}

export interface Coming {
	/** Milliseconds since 1970; becomes the number of a new instance. */
	readonly wallTime: number;
	/** Whether it has waited for those that may work on without the store. */
	readonly hasWaited: boolean;
}

/**
 * @param commands undefined if they are not compared
 * @throws ElasticRunError RENDEZVOUS_FAILED if this agent's settings differ from those of a living run
 */
export function beginRun(
	view: RunView | undefined,
	spec: RunSpec | undefined,
	mine: RunSpec,
	{ wallTime, hasWaited }: Coming,
	commands?: Commands,
): Beginning {
	if (view === undefined)
		return { kind: "begin", round: fresh(0, 0, wallTime) };
	const { round } = view;
	const someoneLives = [...view.nodes.values()].some(
		({ record }) => record.instance === round.instance,
	);
	const otherCommand = commands ? differencesOf(commands) : [];
	const differences = [
		...(spec === undefined ? [] : compareSpecs(spec, mine)),
		...(commands?.mine.mustAgree ? otherCommand : []),
	];
	if (someoneLives && round.outcome !== null) {
		const why = commands && otherOutcome(commands, otherCommand);
		if (why === undefined) {
			return { kind: "late", outcome: round.outcome, round };
		}
		if (commands?.mine.takesTurns) return { kind: "wait", why };
		throw new ElasticRunError(
			"RENDEZVOUS_FAILED",
			`${why}; give another --run-id, or start it again when the run's agents are gone`,
		);
	}
	const isOther = differences.length + otherCommand.length > 0;
	if (!someoneLives && (round.outcome !== null || isOther)) {
		const riders = hasWaited ? undefined : ridersOf(view, spec, mine);
		if (riders) {
			const { lastMs, names } = riders;
			return { kind: "wait", why: ridersInWords(names), lastMs };
		}
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
	return { kind: "join", instance: round.instance, otherCommand };
}

/**
 * Members that may work on, also where others have ended the run: who has not seen its outcome has not said that it left. A
 * user may know that they are gone, and says so with `--ride-out off`.
 */
function ridersOf(view: RunView, theirs: RunSpec | undefined, mine: RunSpec) {
	return theirs && mine.rideOutMs ? unseenRiders(view, theirs) : undefined;
}

function differencesOf({ mine, theirs }: Commands): readonly string[] {
	return theirs === undefined ? [] : compareCommands(theirs, mine.command);
}

/** A user who wants to run another program must not get this run's outcome. Undefined if it is the agent's own. */
function otherOutcome(
	{ mine, theirs }: Commands,
	otherCommand: readonly string[],
): string | undefined {
	if (theirs !== undefined && otherCommand.length === 0) return undefined;
	const why =
		theirs === undefined
			? `no node of the role ${mine.role} took part in it`
			: otherCommand.join("; ");
	return `the run of this name has just ended and did not run this agent's command: ${why}`;
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

/** The flag that sets each field of the spec. */
const FLAG_OF: Readonly<Record<keyof RunSpec, string>> = {
	version: "the version of elastic-run's records",
	minNodes: "--nnodes",
	maxNodes: "--nnodes",
	policy: "--restart-policy",
	finishedStay: "finishedNodes of --restart-policy",
	isAlone: "--rdzv-backend",
	driverRoles: "--driver-role",
	maxRestarts: "--max-restarts",
	maxIdenticalFailures: "--max-identical-failures",
	restartWindowMs: "--max-restarts",
	maxNodeRestarts: "--max-node-restarts",
	nodeWindowMs: "--max-node-restarts",
	maxPreemptions: "--max-preemptions",
	preemptionWindowMs: "--max-preemptions",
	restartDelayMs: "--restart-delay",
	restartDelayMaxMs: "--restart-delay",
	joinTimeoutMs: "--rdzv-conf join_timeout",
	lastCallTimeoutMs: "--rdzv-conf last_call_timeout",
	settleTimeoutMs:
		"--rdzv-conf settle_timeout (unset, it follows --shutdown-timeout)",
	leaseTtlMs: "--rdzv-conf lease_ttl",
	rideOutMs: "--ride-out",
	deadlineMs: "--deadline",
};

/** Agents of an older version do not have these. */
const NEWER: readonly (keyof RunSpec)[] = [
	"maxIdenticalFailures",
	"restartDelayMs",
	"restartDelayMaxMs",
	"rideOutMs",
];

/** "--nnodes: 1:4 there, 1:8 here", one line for each setting that differs. */
function compareSpecs(theirs: RunSpec, mine: RunSpec): readonly string[] {
	// A field may be absent on either side.
	const lines = fieldsOf({ ...theirs, ...mine })
		.filter((field) => theirs[field] !== mine[field])
		.filter((field) => theirs[field] !== undefined || !NEWER.includes(field))
		// It derives from the policy.
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
	if (value === undefined) return "none";
	return field.endsWith("Ms") ? `${Number(value) / 1000}s` : String(value);
}
