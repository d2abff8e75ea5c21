import { linesOf } from "./describe-history.js";
import { describeNodes } from "./describe-nodes.js";
import type { HistoryRecord } from "./history.js";
import { ALL_RUNS, RunKeys } from "./keys.js";
import { currentPlaces, holderOf } from "./order-members.js";
import { countIncidents } from "./pay-incident.js";
import { EMPTY_MEMORY } from "./plan.js";
import { planRound } from "./plan-round.js";
import { decodeRecord, recordAt } from "./record-codec.js";
import type { CoordinatorRecord, NodeState, RunSpec } from "./records.js";
import type {
	IncidentStatus,
	RunPhase,
	RunStatus,
	WaitingStatus,
} from "./run-status.js";
import { budgetOf } from "./run-status.js";
import { type RunView, readRunView } from "./run-view.js";
import type { Snapshot } from "./store.js";
import { waitingInWords } from "./waiting-words.js";

/** The states of a member that is still in its round, or of whose workers some are. */
const IN_ROUND: readonly NodeState[] = [
	"running",
	"stopping",
	"finished",
	"leaving",
];

/** The runs of which a snapshot of all runs' keys holds anything, by name. */
export function runIdsIn(snapshot: Snapshot): readonly string[] {
	const runIds = [...snapshot.entries.keys()].flatMap(
		(key) => key.slice(ALL_RUNS.length).split("/")[0] ?? [],
	);
	return [...new Set(runIds)].sort();
}

/**
 * What all keys of a run together say to people; undefined where there is no such run.
 * @param wallTime milliseconds since 1970
 * @throws ElasticRunError RENDEZVOUS_FAILED where another version of elastic-run wrote them
 */
export function describeRun(
	runId: string,
	snapshot: Snapshot,
	wallTime: number,
): RunStatus | undefined {
	const keys = new RunKeys(runId);
	const view = readRunView(keys, snapshot);
	if (view === undefined) return undefined;
	const { round } = view;
	const spec = recordAt<RunSpec>(snapshot, keys.spec);
	const elected = snapshot.entries.get(keys.coordinator);
	const phase = phaseOf(view);
	const since = sinceOf(phase, view);
	return {
		version: 1,
		runId,
		phase,
		since,
		instance: round.instance,
		round: round.synced,
		world: round.world,
		minNodes: spec?.minNodes ?? null,
		maxNodes: spec?.maxNodes ?? null,
		policy: spec?.policy ?? null,
		waiting:
			phase === "ended" || phase === "abandoned"
				? null
				: waitingOf(view, spec, since, wallTime),
		coordinator: elected
			? decodeRecord<CoordinatorRecord>(elected).nodeId
			: null,
		restarts: spec ? budgetOf(spec.maxRestarts, round.charged) : null,
		incidents: countIncidents(round),
		lastIncident: lastIncident(
			view,
			linesOf(keys, snapshot).filter(
				({ instance }) => instance === round.instance,
			),
		),
		outcome: round.outcome,
		nodes: describeNodes(view, spec),
	};
}

function phaseOf(view: RunView): RunPhase {
	const { outcome, synced, deprecated, planId } = view.round;
	if (outcome !== null) return "ended";
	if (view.nodes.size === 0) return "abandoned";
	if (synced > deprecated) return "running";
	if (planId === null) return "forming";
	const isLeft = currentPlaces(view).every((place) => {
		const holder = holderOf(view, place);
		return holder === undefined || !IN_ROUND.includes(holder.record.state);
	});
	return isLeft ? "waiting" : "leaving";
}

function sinceOf(phase: RunPhase, { round, story }: RunView): number | null {
	switch (phase) {
		case "forming":
			// An instance is named by the time at which it began.
			return round.instance;
		case "running":
			return story?.liftedAt ?? null;
		case "leaving":
		case "waiting":
			return story?.endedAt ?? null;
		case "ended":
			return round.outcome?.endedAt ?? null;
		case "abandoned":
			return null;
		default:
			return phase satisfies never;
	}
}

/** What the coordinator has told; where it had no cause to tell it yet, what it would see. */
function waitingOf(
	view: RunView,
	spec: RunSpec | undefined,
	since: number | null,
	wallTime: number,
): WaitingStatus | null {
	const { round, waiting } = view;
	const told =
		waiting?.instance === round.instance && waiting.round === round.synced + 1
			? waiting
			: undefined;
	const time = { now: 0, wallTime };
	const awaited =
		told ?? (spec && planRound(view, EMPTY_MEMORY, spec, "", time).awaited);
	if (awaited === undefined) return null;
	const until = told?.until ?? null;
	return {
		words: waitingInWords({ ...awaited, until }, wallTime),
		since: told?.since ?? since,
		until,
		needed: awaited.needed,
		missing: awaited.missing.names,
	};
}

function lastIncident(
	{ round, story }: RunView,
	lines: readonly HistoryRecord[],
): IncidentStatus | null {
	if (round.deprecated >= round.synced && round.cause.root !== null) {
		const { reason, root } = round.cause;
		return { round: root.round, at: story?.endedAt ?? null, reason, root };
	}
	const line = lines.findLast(({ cause }) => cause.root !== null);
	if (line?.cause.root == null) return null;
	const { reason, root } = line.cause;
	return { round: root.round, at: line.begunAt, reason, root };
}
