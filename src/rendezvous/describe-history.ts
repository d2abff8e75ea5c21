import type { HistoryRecord } from "./history.js";
import { RunKeys } from "./keys.js";
import {
	measureRounds,
	phasesOf,
	type RoundPhases,
} from "./measure-history.js";
import { observeRound } from "./observe-round.js";
import { countIncidents } from "./pay-incident.js";
import { EMPTY_MEMORY } from "./plan.js";
import { decodeRecord } from "./record-codec.js";
import type { Outcome } from "./records.js";
import { type RunView, readRunView } from "./run-view.js";
import type { Snapshot } from "./store.js";

/**
 * What `elastic-run history` tells of a run, and prints as JSON: documented in
 * docs/operating.md. Times are milliseconds since 1970, null where not known.
 */
export interface RunHistory {
	readonly version: 1;
	readonly runId: string;
	/** Each start of the run of which a round is kept, and the newest in any case; the oldest first. */
	readonly instances: readonly InstanceHistory[];
}

export interface InstanceHistory {
	readonly instance: number;
	/** When its first round that is kept was begun. */
	readonly begunAt: number;
	/** Null while it goes on, and where nobody was left to see its end. */
	readonly endedAt: number | null;
	/** How the run ended; null: it did not, or nobody was left to see it. */
	readonly outcome: Pick<Outcome, "result" | "reason"> | null;
	readonly incidents: number;
	/** How often workers ran again after a failure or the loss of a node, and how long that took. */
	readonly repairs: {
		readonly count: number;
		/** The mean time to repair, in milliseconds; null where nothing was repaired. */
		readonly meanMs: number | null;
		readonly longestMs: number | null;
	};
	/** How long all members of a round ran, in milliseconds. */
	readonly ranMs: number;
	/** From `begunAt` to the end, or to now; null where the end was not seen. */
	readonly elapsedMs: number | null;
	/** `ranMs` as a part of `elapsedMs`, from 0 to 1. */
	readonly ranShare: number | null;
	readonly rounds: readonly RoundLine[];
}

/** One round: its record, and what follows from its times. */
export interface RoundLine extends Omit<HistoryRecord, "version"> {
	readonly phases: RoundPhases;
	/** How long all its members ran, in milliseconds; while it runs, until now. Null: they never were seen to. */
	readonly ranMs: number | null;
}

/**
 * The rounds of a run, as far as they are kept; undefined where there is no such run.
 * @param wallTime milliseconds since 1970
 * @throws ElasticRunError RENDEZVOUS_FAILED where another version of elastic-run wrote them
 */
export function describeHistory(
	runId: string,
	snapshot: Snapshot,
	wallTime: number,
): RunHistory | undefined {
	const keys = new RunKeys(runId);
	const view = readRunView(keys, snapshot);
	if (view === undefined) return undefined;
	const lines = linesOf(keys, snapshot).map((line) =>
		line.round === view.round.synced ? asSeenNow(line, view, wallTime) : line,
	);
	const instances = new Set(lines.map(({ instance }) => instance));
	return {
		version: 1,
		runId,
		instances: [...instances.add(view.round.instance)].map((instance) =>
			describeInstance(
				instance,
				lines.filter((line) => line.instance === instance),
				view,
				wallTime,
			),
		),
	};
}

/** All lines of a run's history that are kept, the oldest first. */
export function linesOf(
	{ history }: RunKeys,
	{ entries }: Snapshot,
): readonly HistoryRecord[] {
	return [...entries]
		.filter(([key]) => key.startsWith(history))
		.map(([, entry]) => decodeRecord<HistoryRecord>(entry))
		.sort((left, right) => left.round - right.round);
}

/** Its line says when the newest round was started only once it is over: until then its members do. */
function asSeenNow(
	line: HistoryRecord,
	view: RunView,
	wallTime: number,
): HistoryRecord {
	if (line.endedAt !== null || view.nodes.size === 0) return line;
	const { times } = observeRound(view, EMPTY_MEMORY, wallTime);
	return { ...line, startedAt: times?.startedAt ?? null };
}

function describeInstance(
	instance: number,
	rounds: readonly HistoryRecord[],
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
	const elapsedMs = until === null ? null : Math.max(0, until - begunAt);
	return {
		instance,
		begunAt,
		endedAt,
		outcome: outcome && { result: outcome.result, reason: outcome.reason },
		incidents: isNewest ? countIncidents(view.round) : (last?.incidents ?? 0),
		repairs: measured.repairs,
		ranMs: measured.ranMs,
		elapsedMs,
		ranShare: elapsedMs ? Math.min(1, measured.ranMs / elapsedMs) : null,
		rounds: rounds.map(({ version, ...line }, index) => ({
			...line,
			phases: phasesOf(line, rounds[index - 1]),
			ranMs: measured.ranOf[index] ?? null,
		})),
	};
}

function outcomeOf(
	last: HistoryRecord | undefined,
): Pick<Outcome, "result" | "reason"> | null {
	if (last?.outcome == null) return null;
	return { result: last.outcome, reason: last.ending ?? "" };
}
