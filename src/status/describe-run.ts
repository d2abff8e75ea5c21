import { PROGRESS, type ProgressRecord } from "../model/index.js";
import {
	ALL_RUNS,
	awaitedNow,
	COORDINATOR,
	currentPlaces,
	type HistoryRecord,
	holderOf,
	informationAt,
	LEDGER,
	type LedgerRecord,
	mainLimit,
	type NodeState,
	onceEach,
	PREFLIGHT,
	RunKeys,
	type RunSpec,
	type RunView,
	readRunView,
	runTimeBy,
	SPEC,
	spentByRun,
	type Warn,
} from "../rendezvous/index.js";
import type { Snapshot } from "../store/index.js";
import { behindOf } from "./behind.js";
import { budgetOf, roleBudgets } from "./budgets.js";
import { describeNodes } from "./describe-nodes.js";
import { linesOf } from "./history.js";
import type {
	IncidentStatus,
	NodeStatus,
	PreflightStatus,
	RunDocument,
	RunPhase,
	ShownStarts,
	WaitingStatus,
	WorkerStatus,
} from "./run-document.js";
import { startsOfRound } from "./starts.js";
import { waitingInWords } from "./words.js";

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
): RunDocument | undefined {
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
	const sources = { keys, snapshot, wallTime, warn: once };
	const runTime = runTimeBy(view.lived, round.instance, wallTime);
	const ofRoles = roleBudgets(round, runTime);
	const starts = new StartsReader(keys, snapshot, once);
	const nodes = describeNodes(view, spec, wallTime).map((node) => ({
		...withWorkers(node, round, sources),
		...starts.of(node, round),
	}));
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
			? budgetOf(mainLimit(spec), spentByRun(round), runTime)
			: null,
		...(ofRoles && { roleRestarts: ofRoles }),
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
		nodes,
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

/** What nodes found out about themselves before they joined, by name. */
function preflightsOf({
	keys,
	snapshot,
	warn,
}: {
	readonly keys: RunKeys;
	readonly snapshot: Snapshot;
	readonly warn: Warn;
}): readonly PreflightStatus[] {
	return [...snapshot.entries.keys()]
		.filter((key) => key.startsWith(keys.preflights))
		.sort()
		.flatMap((key) => {
			const record = informationAt(PREFLIGHT, snapshot, key, warn);
			if (record === undefined) return [];
			const { nodeId, verdict, findings, at } = record;
			return [{ nodeId, verdict, findings, at }];
		});
}

type Round = { readonly instance: number; readonly synced: number };

/** Where the records of the run's agents are. */
export interface Sources {
	readonly keys: RunKeys;
	readonly snapshot: Snapshot;
	/** Milliseconds since 1970. */
	readonly wallTime: number;
	readonly warn: Warn;
}

/** Adds to a node how far its workers have come in this round, from what its agent has published. */
function withWorkers(
	node: Omit<NodeStatus, "workers">,
	round: Round,
	sources: Sources,
): NodeStatus {
	const { wallTime } = sources;
	const firstRank = node.ranks?.[0];
	const known = progressOf(node.nodeId, round, sources);
	const workers = (known?.workers ?? []).map(
		({
			localRank,
			step,
			source,
			stepAt,
			rate,
			metrics,
			start,
			ended,
		}): WorkerStatus => ({
			localRank,
			rank: firstRank === undefined ? null : firstRank + localRank,
			step,
			stepRate: rate,
			secondsSinceStep: Math.max(0, wallTime - stepAt) / 1_000,
			stepSource: source,
			start: start ?? "cold",
			metrics: metrics ?? {},
			...(ended && { ended }),
		}),
	);
	return { ...node, workers };
}

/** What the nodes of a round have found out: what the first of them that knows something says. */
export function findingsOf(
	nodes: readonly Pick<NodeStatus, "nodeId" | "role" | "workers">[],
	round: Round,
	sources: Sources,
): Pick<RunDocument, "straggler" | "hang" | "busy" | "behind"> {
	const records = nodes.flatMap(
		({ nodeId }) => progressOf(nodeId, round, sources) ?? [],
	);
	const busy = records.flatMap(({ firstRank = 0, busy: workers = [] }) =>
		workers.map(({ localRank, what, since }) => {
			return { rank: firstRank + localRank, what, since };
		}),
	);
	const behind = behindOf(nodes, busy);
	const hangs = records.flatMap(({ hang }) => hang ?? []);
	return {
		straggler: records.flatMap(({ straggler }) => straggler ?? [])[0] ?? null,
		hang: hangs.find(({ suspect }) => suspect !== null) ?? hangs[0] ?? null,
		...(busy.length > 0 && { busy }),
		...(behind.length > 0 && { behind }),
	};
}

function progressOf(
	nodeId: string,
	{ instance, synced }: Round,
	{ keys, snapshot, warn }: Sources,
): ProgressRecord | undefined {
	const key = keys.progressOf(nodeId);
	const known = informationAt(PROGRESS, snapshot, key, warn);
	const isCurrent = known?.instance === instance && known.round === synced;
	return isCurrent ? known : undefined;
}

/** Rounds before the newest that are looked at for a cold start. */
const MOST_EARLIER = 50;

/** Reads how nodes started their workers, from the records that `history` reads too. */
export class StartsReader {
	/** Of each node the keys of its records, the newest first: a long run has thousands, and most are not decoded. */
	private readonly keysOf = new Map<string, string[]>();

	constructor(
		{ ledger }: RunKeys,
		private readonly snapshot: Snapshot,
		private readonly warn: Warn,
	) {
		for (const key of snapshot.entries.keys()) {
			if (!key.startsWith(ledger)) continue;
			const nodeId = key.slice(key.lastIndexOf("/") + 1);
			const known = this.keysOf.get(nodeId);
			if (known === undefined) this.keysOf.set(nodeId, [key]);
			else known.push(key);
		}
		for (const keys of this.keysOf.values()) keys.sort().reverse();
	}

	/** Empty without warm starts. */
	of(
		{ nodeId, pid }: Pick<NodeStatus, "nodeId" | "pid">,
		round: { readonly instance: number; readonly synced: number },
	): Pick<NodeStatus, "starts" | "nextStart"> {
		const [key, ...earlier] = this.keysOf.get(nodeId) ?? [];
		const record = key === undefined ? undefined : this.read(key);
		if (record?.instance !== round.instance) return {};
		const { starts, nextStart } = startsOf(record, round.synced);
		return {
			...(starts && { starts: { ...starts, ...this.saved(record, earlier) } }),
			...(nextStart && pid !== null ? { nextStart } : {}),
		};
	}

	/** As `history` computes it, but it does not look back so far. */
	private saved(
		record: LedgerRecord,
		earlier: readonly string[],
	): Pick<ShownStarts, "savedMs"> {
		const { instance, round, steps, starts } = record;
		if (steps === null || starts?.cold !== 0) return {};
		for (const key of earlier.slice(0, MOST_EARLIER)) {
			const before = this.read(key);
			if (before?.instance !== instance) continue;
			const [start] = startsOfRound([before, record], round);
			const savedMs = start?.savedMs ?? null;
			if (savedMs !== null) return { savedMs };
		}
		return {};
	}

	private read(key: string): LedgerRecord | undefined {
		return informationAt(LEDGER, this.snapshot, key, this.warn);
	}
}

/** What has left the run starts nothing more. */
function startsOf(
	{ round, starts, nextStart, leftAt }: LedgerRecord,
	synced: number,
): Pick<LedgerRecord, "starts" | "nextStart"> {
	return {
		starts: round === synced ? starts : undefined,
		nextStart: leftAt === undefined ? nextStart : undefined,
	};
}
