import { awaitedNow } from "../records/awaited.js";
import { mainLimit, roleLimit, spentByRun } from "../records/budgets.js";
import type { HistoryRecord } from "../records/history-record.js";
import { ALL_RUNS, RunKeys } from "../records/keys.js";
import { currentPlaces, holderOf } from "../records/places.js";
import { informationAt, onceEach, type Warn } from "../records/record-codec.js";
import { COORDINATOR, type NodeState } from "../records/records.js";
import { type RunSpec, SPEC } from "../records/run-spec.js";
import { type RunView, readRunView } from "../records/run-view.js";
import type { Snapshot } from "../store/store.js";
import { linesOf } from "./describe-history.js";
import { describeNodes } from "./describe-nodes.js";
import { preflightsOf } from "./describe-preflights.js";
import { StartsReader } from "./describe-starts.js";
import { findingsOf, withWorkers } from "./describe-workers.js";
import { roleBudgets } from "./role-budgets.js";
import type {
	IncidentStatus,
	RunPhase,
	RunStatus,
	WaitingStatus,
} from "./run-status.js";
import { budgetOf } from "./run-status.js";
import { waitingInWords } from "./waiting-words.js";

/** The states of a member that is still in its round, or still has workers of it. */
const IN_ROUND: readonly NodeState[] = [
	"running",
	"stopping",
	"finished",
	"leaving",
];

/** The names of all runs in a snapshot of all runs' keys. */
export function runIdsIn(snapshot: Snapshot): readonly string[] {
	const runIds = [...snapshot.entries.keys()].flatMap(
		(key) => key.slice(ALL_RUNS.length).split("/")[0] ?? [],
	);
	return [...new Set(runIds)].sort();
}

/**
 * The status of a run, from all its keys; undefined if there is no such run.
 * @param wallTime milliseconds since 1970
 * @param warn receives unreadable records that only inform people
 * @throws ElasticRunError RENDEZVOUS_FAILED if anything else is unreadable
 */
export function describeRun(
	runId: string,
	snapshot: Snapshot,
	wallTime: number,
	warn: Warn = () => {},
): RunStatus | undefined {
	const keys = new RunKeys(runId);
	// The newest line of the history is read twice.
	const once = onceEach(warn);
	const view = readRunView(keys, snapshot, once);
	if (view === undefined) return undefined;
	const { round } = view;
	const spec = informationAt(SPEC, snapshot, keys.spec, once);
	const elected = informationAt(COORDINATOR, snapshot, keys.coordinator, once);
	const phase = phaseOf(view);
	const since = sinceOf(phase, view);
	const nodes = describeNodes(view, spec, wallTime);
	const sources = { keys, snapshot, wallTime, warn: once };
	const ofRole = spec && roleLimit(spec);
	const starts = new StartsReader(keys, snapshot, once);
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
		coordinator: elected?.nodeId ?? null,
		restarts: spec
			? budgetOf(mainLimit(spec), spentByRun(round), wallTime)
			: null,
		...(ofRole && { roleRestarts: roleBudgets(round, ofRole, wallTime) }),
		// One whose charge is still open counts: it is shown as the last incident.
		incidents: round.incidents,
		lastIncident: lastIncident(
			view,
			linesOf(keys, snapshot, once).filter(
				({ instance }) => instance === round.instance,
			),
		),
		outcome: round.outcome,
		...(phase === "running"
			? findingsOf(nodes, round, sources)
			: { straggler: null, hang: null }),
		nodes: nodes.map((node) => ({
			...withWorkers(node, round, sources),
			...starts.of(node, round),
		})),
		preflights: preflightsOf(sources),
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
			// An instance's number is the time at which it began.
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

/** What the coordinator has published; if it has published nothing yet, what it would, as far as the records show. */
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
	const awaited = told ?? (spec && awaitedNow(view, spec));
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
		const { reason, root, noticedAfterMs } = round.cause;
		const at = before(story?.endedAt, noticedAfterMs);
		return { round: root.round, at, reason, root };
	}
	const line = lines.findLast(({ cause }) => cause.root !== null);
	if (line?.cause.root == null) return null;
	const { reason, root, noticedAfterMs } = line.cause;
	const at = before(line.begunAt, noticedAfterMs);
	return { round: root.round, at, reason, root };
}

function before(at: number | null | undefined, ms = 0): number | null {
	return at == null ? null : at - ms;
}
