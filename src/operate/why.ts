import { pause } from "../base/back-off.js";
import type { Clock } from "../base/clock.js";
import { formatCount, formatRanks } from "../base/units.js";
import { placeOf } from "../failures/index.js";
import { blame, blameAlone, quote, type Verdict } from "../hangs/index.js";
import { plainMessage } from "../logs/index.js";
import { EVIDENCE, type RankEvidence } from "../model/index.js";
import { requestWhy } from "../node-files/index.js";
import { encodeRecord, informationAt, RunKeys } from "../rendezvous/index.js";
import {
	describeRun,
	lag,
	living,
	PHASES,
	type RunDocument,
	type RunPhase,
	stepNoun,
	stepsInWords,
} from "../status/index.js";
import type { Snapshot } from "../store/index.js";
import {
	type ReadRun,
	readMirror,
	readRun,
	type Searcher,
} from "./found-runs.js";
import type { RunPlaces } from "./run-request.js";
import { inStore } from "./run-store.js";

const LOOK_EVERY_MS = 100;

interface AskWhyOptions {
	readonly runId: string;
	/** A new name for the question. */
	readonly id: string;
	/** How long to wait for the agents, in milliseconds. */
	readonly timeoutMs: number;
}

/** The JSON of `elastic-run why`: docs/steps.md. */
export interface WhyReport {
	readonly version: 1;
	readonly runId: string;
	readonly place: string;
	readonly instance: number;
	readonly round: number;
	/** Only while it is `running` do workers wait for each other. */
	readonly phase: RunPhase;
	readonly verdict: Verdict;
	/** By rank. */
	readonly ranks: readonly RankEvidence[];
	/** Nodes with workers whose agents did not answer in time. */
	readonly silent: readonly string[];
}

/**
 * Asks all agents of a run what their workers do. Kills nothing, and the run goes on. Undefined if there is no such run.
 * @throws ElasticRunError STORE_UNREACHABLE
 */
export async function askWhy(
	options: AskWhyOptions,
	places: RunPlaces,
	searcher: Searcher,
): Promise<WhyReport | undefined> {
	const [newest] = await readRun(options.runId, places, searcher);
	if (newest === undefined) return undefined;
	const { clock } = searcher;
	if (newest.local !== undefined) {
		const { local } = newest;
		requestWhy(local.directory, options.id);
		const read = async () => readMirror(local)?.snapshot ?? newest.snapshot;
		return collect(options, newest, read, clock);
	}
	if (places.store === undefined) return undefined;
	return inStore(places.store, clock, async ({ store }) => {
		const keys = new RunKeys(options.runId);
		const question = keys.question(options.id);
		const at = Math.round(clock.wallTime());
		const value = encodeRecord({ version: 1, at });
		await store.transaction([], [{ put: question, value }]);
		const read = (known: Snapshot) => store.snapshot([keys.prefix], known);
		const report = await collect(options, newest, read, clock);
		await store.transaction([], [{ delete: question }]);
		return report;
	});
}

/** Waits until all nodes with workers have answered, or for as long as was asked. */
async function collect(
	{ runId, id, timeoutMs }: AskWhyOptions,
	{ place, snapshot: first }: ReadRun,
	read: (known: Snapshot) => Promise<Snapshot>,
	clock: Clock,
): Promise<WhyReport | undefined> {
	const until = clock.now() + timeoutMs;
	let snapshot = first;
	for (;;) {
		snapshot = await read(snapshot);
		const status = describeRun(runId, snapshot, clock.wallTime());
		if (status === undefined) return undefined;
		const answers = answersIn(runId, snapshot, id);
		const silent = nodesWithWorkers(status).filter(
			(node) => !answers.has(node),
		);
		if (silent.length === 0 || clock.now() >= until) {
			const { instance, round, phase } = status;
			const ranks = [...answers.values()]
				.flat()
				.sort((left, right) => left.rank - right.rank);
			const about = { version: 1, runId, place, instance, round } as const;
			const verdict = judgeNow(status, ranks, silent.length === 0);
			return { ...about, phase, verdict, ranks, silent };
		}
		await pause(clock, LOOK_EVERY_MS);
	}
}

/** The answers to this question, by node id. */
function answersIn(
	runId: string,
	snapshot: Snapshot,
	id: string,
): ReadonlyMap<string, readonly RankEvidence[]> {
	const { answers } = new RunKeys(runId);
	const keys = [...snapshot.entries.keys()].filter((key) =>
		key.startsWith(answers),
	);
	return new Map(
		keys.flatMap((key): [string, readonly RankEvidence[]][] => {
			const record = informationAt(EVIDENCE, snapshot, key, () => {});
			return record?.asked?.includes(id)
				? [[key.slice(answers.length), record.ranks]]
				: [];
		}),
	);
}

/** The nodes whose workers are there: they work, are paused, run on while another role restarts, or do not end. */
export function nodesWithWorkers({
	nodes,
}: Pick<RunDocument, "nodes">): readonly string[] {
	const hasWorkers = ({ state, workerPids }: RunDocument["nodes"][number]) =>
		state === "running" ||
		(state !== "gone" && workerPids.some((pid) => pid !== null));
	return nodes.filter(hasWorkers).map(({ nodeId }) => nodeId);
}

/**
 * Says which rank keeps the others from a step. Between two rounds none does: the launchers wait, and say for what.
 * @param isWhole whether all nodes have told
 */
export function judgeNow(
	{ phase, waiting, behind = [], nodes }: Standing,
	ranks: readonly RankEvidence[],
	isWhole: boolean,
): Verdict {
	if (phase === "running") {
		return blameBehind(behind, ranks) ?? blameStill(nodes, ranks, isWhole);
	}
	const words = waiting === null ? "" : `: ${waiting.words}`;
	return {
		kind: "hung",
		suspects: [],
		waiting: ranks.map(({ rank }) => rank),
		reason: `${PHASES[phase]}${words}`,
	};
}

type Standing = Pick<RunDocument, "phase" | "waiting" | "behind" | "nodes">;

/** How late the news of a step may come, in seconds. */
const LATE_SECONDS = 3;

/** A rank that is met elsewhere than others holds nobody up while steps come. Where none can be due, none is missing. */
function blameStill(
	nodes: Standing["nodes"],
	ranks: readonly RankEvidence[],
	isWhole: boolean,
): Verdict {
	const workers = living(nodes.flatMap((node) => node.workers));
	const steady = workers.filter(({ stepRate }) => stepRate !== null);
	const verdict = blame(ranks, isWhole && steady.length > 0);
	const isInTime = steady.some(
		({ secondsSinceStep, stepRate }) =>
			secondsSinceStep < LATE_SECONDS + 2 / (stepRate ?? 0),
	);
	if (!isInTime || verdict.kind === "stopped") return verdict;
	const noun = stepNoun(steady.map(({ stepSource }) => stepSource));
	const reason = `steps come, and no rank holds them up: ${noun} ${stepsInWords(workers)}`;
	return { kind: "hung", suspects: [], waiting: [], reason };
}

/** Where others make steps, ranks that make none are judged by themselves; undefined if they wait for others. */
function blameBehind(
	behind: NonNullable<RunDocument["behind"]>,
	ranks: readonly RankEvidence[],
): Verdict | undefined {
	const of = ({ rank }: { readonly rank: number }) =>
		behind.find((one) => one.rank === rank);
	const verdict = blameAlone(ranks.filter(of));
	return (
		verdict && {
			...verdict,
			suspects: verdict.suspects.map((suspect) => {
				const found = of(suspect);
				return found
					? { ...suspect, why: `${lag(found)}; ${suspect.why}` }
					: suspect;
			}),
		}
	);
}

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
