import {
	countIncidents,
	HISTORY,
	type HistoryRecord,
	informationAt,
	type LedgerRecord,
	ledgerRecords,
	type Outcome,
	RunKeys,
	type RunView,
	readRunView,
	startOfRound,
	type Warn,
} from "../rendezvous/index.js";
import type { Snapshot } from "../store/index.js";
import {
	firstSignOf,
	measureRounds,
	phasesOf,
	type Repairs,
	type RoundPhases,
	repairsOf,
} from "./round-times.js";
import { type NodeStart, startsOfRound } from "./starts.js";

/**
 * The content of `elastic-run history` and its JSON, documented in docs/status.md. Times are milliseconds since 1970,
 * null if unknown.
 */
export interface RunHistory {
	readonly version: 1;
	readonly runId: string;
	/** Each start of the run with a kept round, and always the newest start; oldest first. */
	readonly instances: readonly InstanceHistory[];
}

export interface InstanceHistory {
	readonly instance: number;
	/** When its first kept round began. */
	readonly begunAt: number;
	/** Null while it runs, and if no agent was left to see its end. */
	readonly endedAt: number | null;
	/** How the run ended; null if it has not, or no agent was left to see it. */
	readonly outcome: Pick<Outcome, "result" | "reason"> | null;
	readonly incidents: number;
	/** How long it took until all workers ran again, and until they made a step beyond those before. */
	readonly repairs: Repairs & {
		/** Absent if none of its workers has shown a step. */
		readonly toStep?: Repairs;
	};
	/** How long all members of a round ran, in milliseconds. */
	readonly ranMs: number;
	/** From `begunAt` to the end, or to now; null if the end was not seen. */
	readonly elapsedMs: number | null;
	/** `ranMs` as a fraction of `elapsedMs`, from 0 to 1. */
	readonly ranShare: number | null;
	readonly rounds: readonly RoundLine[];
}

/** One round: its record, and what its times add up to. */
export interface RoundLine extends Omit<HistoryRecord, "version"> {
	readonly phases: RoundPhases;
	/** How long all its members ran, in milliseconds; until now if it still runs. Null if they were never seen to run. */
	readonly ranMs: number | null;
	/** Null if none of its workers has shown a step. */
	readonly steps: StepsOfRound | null;
	/** How its nodes started their workers; empty without warm starts. */
	readonly starts: readonly NodeStart[];
}

/**
 * The kept rounds of a run; undefined if there is no such run.
 * @param wallTime milliseconds since 1970
 * @param warn receives each unreadable line of the history
 * @throws ElasticRunError RENDEZVOUS_FAILED if anything else is unreadable
 */
export function describeHistory(
	runId: string,
	snapshot: Snapshot,
	wallTime: number,
	warn: Warn = () => {},
): RunHistory | undefined {
	const keys = new RunKeys(runId);
	const view = readRunView(keys, snapshot);
	if (view === undefined) return undefined;
	const lines = linesOf(keys, snapshot, warn).map((line) =>
		line.round === view.round.synced ? asSeenNow(line, view) : line,
	);
	const records = ledgerRecords(keys, snapshot, warn);
	const instances = new Set(lines.map(({ instance }) => instance));
	return {
		version: 1,
		runId,
		instances: [...instances.add(view.round.instance)].map((instance) =>
			describeInstance(
				instance,
				lines.filter((line) => line.instance === instance),
				records.filter((record) => record.instance === instance),
				view,
				wallTime,
			),
		),
	};
}

/** All kept lines of a run's history, oldest first. */
export function linesOf(
	{ history }: RunKeys,
	snapshot: Snapshot,
	warn: Warn,
): readonly HistoryRecord[] {
	return [...snapshot.entries.keys()]
		.filter((key) => key.startsWith(history))
		.flatMap((key) => informationAt(HISTORY, snapshot, key, warn) ?? [])
		.sort((left, right) => left.round - right.round);
}

/** The newest round's line gets its start time only once the round is over. Until then its members tell it. */
function asSeenNow(line: HistoryRecord, view: RunView): HistoryRecord {
	if (line.endedAt !== null || view.nodes.size === 0) return line;
	const { synced, deprecated } = view.round;
	return {
		...line,
		startedAt: synced > deprecated ? startOfRound(view) : null,
	};
}

function describeInstance(
	instance: number,
	rounds: readonly HistoryRecord[],
	records: readonly LedgerRecord[],
	view: RunView,
	wallTime: number,
): InstanceHistory {
	const isNewest = instance === view.round.instance;
	const goesOn = isNewest && view.round.outcome === null && view.nodes.size > 0;
	const outcome = isNewest ? view.round.outcome : outcomeOf(rounds.at(-1));
	const last = rounds.at(-1);
	const begunAt = rounds[0]?.begunAt ?? rounds[0]?.liftedAt ?? instance;
	const endedAt = goesOn
		? null
		: ((isNewest ? view.round.outcome?.endedAt : undefined) ??
			last?.endedAt ??
			null);
	const until = goesOn ? wallTime : endedAt;
	const measured = measureRounds(rounds, goesOn ? wallTime : null);
	const toStep = repairsToStep(rounds, records);
	const elapsedMs = until === null ? null : Math.max(0, until - begunAt);
	return {
		instance,
		begunAt,
		endedAt,
		outcome: outcome && { result: outcome.result, reason: outcome.reason },
		incidents: isNewest ? countIncidents(view.round) : (last?.incidents ?? 0),
		repairs: { ...measured.repairs, ...(toStep && { toStep }) },
		ranMs: measured.ranMs,
		elapsedMs,
		ranShare: elapsedMs ? Math.min(1, measured.ranMs / elapsedMs) : null,
		rounds: rounds.map(({ version, ...line }, index) => ({
			...line,
			phases: phasesOf(line, rounds[index - 1]),
			ranMs: measured.ranOf[index] ?? null,
			steps: stepsOfRound(records, line, rounds[index - 1]),
			starts: startsOfRound(records, line.round),
		})),
	};
}

/** Undefined if none of these workers has shown a step. */
export function repairsToStep(
	rounds: readonly HistoryRecord[],
	records: readonly LedgerRecord[],
): Repairs | undefined {
	const known = records.flatMap(({ round, steps }) =>
		steps === null ? [] : [{ round, steps }],
	);
	if (known.length === 0) return undefined;
	return repairsOf(rounds, (line) => {
		const times = known.flatMap(({ round, steps }) => {
			// Where numbers cannot be compared, the first step is taken for one beyond.
			const at = steps.isUnsure ? steps.firstAt : steps.newAt;
			return round === line.round && at !== null ? [at] : [];
		});
		return times.length === 0 ? null : Math.min(...times);
	});
}

function outcomeOf(
	last: HistoryRecord | undefined,
): Pick<Outcome, "result" | "reason"> | null {
	if (last?.outcome == null) return null;
	return { result: last.outcome, reason: last.ending ?? "" };
}

type Line = Omit<HistoryRecord, "version">;

/** The steps of one round, over all its nodes. Null if unknown. */
export interface StepsOfRound {
	readonly first: number;
	readonly furthest: number;
	/** How many steps of earlier rounds had to be made again: from its first step to the furthest one before. */
	readonly lost: number | null;
	/** How many of these it has made. */
	readonly again: number | null;
	/** From the first sign of the end of the round before, or from its begin, to its first step, in milliseconds. */
	readonly toFirstMs: number | null;
}

/**
 * Null if none of its workers has shown a step.
 * @param before the round that was left for this one, if kept
 */
export function stepsOfRound(
	records: readonly LedgerRecord[],
	line: Line,
	before?: Line,
): StepsOfRound | null {
	const known = records.flatMap((record) => {
		const { round, steps } = record;
		return round === line.round && steps ? [{ ...record, steps }] : [];
	});
	if (known.length === 0) return null;
	const first = Math.min(...known.map(({ steps }) => steps.first));
	const furthest = Math.max(...known.map(({ steps }) => steps.furthest.step));
	const isUnsure = known.some(({ steps }) => steps.isUnsure);
	const earlier = Math.max(...known.map((record) => record.before?.step ?? -1));
	const isKnown = earlier >= 0 && !isUnsure;
	const from = firstSignOf(line, before) ?? line.begunAt;
	const at = Math.min(...known.map(({ steps }) => steps.firstAt));
	return {
		...{ first, furthest },
		lost: isKnown ? count(first, earlier) : null,
		again: isKnown ? count(first, Math.min(earlier, furthest)) : null,
		toFirstMs: from === null || at < from ? null : at - from,
	};
}

function count(first: number, last: number): number {
	return Math.max(0, last - first + 1);
}
