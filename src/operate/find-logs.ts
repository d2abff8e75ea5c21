import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { attempt, textAt } from "../base/attempt.js";
import { workerDirectory } from "../logs/index.js";
import { ownEntries } from "../node-files/index.js";
import { findKnownAgents } from "./find-agent.js";
import type { Searcher } from "./found-runs.js";
import { keptRuns } from "./found-runs.js";
import { LogSource } from "./log-source.js";

/** The name of temporary log directories: `<temporary directory>/elastic-run-logs-…`. */
const TEMPORARY_LOGS_PREFIX = "elastic-run-logs-";

/** The logs of one start of a run on this machine. */
export interface RunLogs {
	readonly runId: string;
	readonly instance: number;
	/** One directory per node: `<log dir>/<run id>/<instance>/<node id>`. */
	readonly nodes: readonly string[];
}

/** Where the user says that logs are. */
interface LogPlace {
	readonly logDir: string | undefined;
	/** Nowhere else: a run of the same name may have others. */
	readonly isOnly?: boolean;
}

/**
 * The logs of a run's newest start for which there are any: from its living launchers, the given log directory, and
 * temporary ones.
 * @param runId undefined: the run that was started last
 */
export function findLogs(
	runId: string | undefined,
	{ logDir, isOnly = false }: LogPlace,
	searcher: Searcher,
): RunLogs | undefined {
	const { host, uid } = searcher;
	const roots =
		logDir === undefined
			? ownTemporaryLogs(host.temporaryDirectory, uid)
			: [resolve(host.cwd, logDir)];
	const found = [
		...(isOnly ? [] : recordedLogs(runId, searcher)),
		...roots.flatMap((root) => nodeDirectories(root, runId)),
	].map(placeOf);
	const newest = found.reduce<(typeof found)[number] | undefined>(
		(best, place) =>
			best === undefined || place.instance > best.instance ? place : best,
		undefined,
	);
	if (newest === undefined) return undefined;
	const nodes = found
		.filter(
			(place) =>
				place.instance === newest.instance && place.runId === newest.runId,
		)
		.map(({ directory }) => directory);
	return { ...newest, nodes: [...new Set(nodes)].sort() };
}

/** The log directories of living launchers, and those of ended runs that still exist. */
function recordedLogs(
	runId: string | undefined,
	searcher: Searcher,
): readonly string[] {
	const living = findKnownAgents({ runId, nodeId: undefined }, searcher);
	const kept = keptRuns(searcher).flatMap(({ logDirectory, ...run }) => {
		const isMeant = runId === undefined || run.runId === runId;
		const isThere = isMeant && logDirectory && existsSync(logDirectory);
		return isThere ? [logDirectory] : [];
	});
	return [...living.map(({ node }) => node.logDirectory), ...kept];
}

export function ownTemporaryLogs(
	temporaryDirectory: string,
	uid: number,
): readonly string[] {
	return entriesOf(temporaryDirectory)
		.filter((name) => name.startsWith(TEMPORARY_LOGS_PREFIX))
		.map((name) => join(temporaryDirectory, name))
		.filter((directory) => ownEntries(directory, uid).length > 0);
}

function nodeDirectories(
	root: string,
	runId: string | undefined,
): readonly string[] {
	const runs = runId === undefined ? entriesOf(root) : [runId];
	return runs.flatMap((run) =>
		entriesOf(join(root, run))
			// The link `latest` leads to one of the others.
			.filter((instance) => /^\d+$/.test(instance))
			.flatMap((instance) =>
				entriesOf(join(root, run, instance)).map((node) =>
					join(root, run, instance, node),
				),
			),
	);
}

function placeOf(directory: string) {
	const ofInstance = dirname(directory);
	const instance = Number(basename(ofInstance));
	return { directory, instance, runId: basename(dirname(ofInstance)) };
}

/** Empty if it is no directory, or not readable. */
export function entriesOf(directory: string): readonly string[] {
	return attempt(() => readdirSync(directory).sort()) ?? [];
}

const AGENT_LOG = "agent.log";
const ROUND = /^round-(\d+)$/;

/** The files of a run's logs, as they appear. */
export class LogFolder {
	private readonly sourcesByName = new Map<string, LogSource>();
	/** Whether a worker was started. */
	hasRound = false;

	constructor(private readonly nodes: RunLogs["nodes"]) {}

	get sources(): readonly LogSource[] {
		return [...this.sourcesByName.values()];
	}

	/**
	 * Looks for new files.
	 * @param evenUnknown includes files of workers whose rank is not known (yet)
	 */
	refresh(evenUnknown: boolean): void {
		for (const directory of this.nodes) {
			const nodeId = basename(directory);
			const agentLog = join(directory, AGENT_LOG);
			this.add(agentLog, {
				...{ nodeId, rank: null, localRank: null, round: null },
				stream: "launcher",
			});
			const firstRanks = readFirstRanks(agentLog);
			this.hasRound ||= firstRanks.size > 0;
			for (const name of entriesOf(directory)) {
				const round = Number(ROUND.exec(name)?.[1]);
				const firstRank = firstRanks.get(round);
				const isKnown = firstRank !== undefined || evenUnknown;
				if (Number.isNaN(round) || !isKnown) continue;
				this.addRound(directory, round, firstRank);
			}
		}
	}

	private addRound(
		directory: string,
		round: number,
		firstRank: number | undefined,
	): void {
		this.hasRound = true;
		for (const name of entriesOf(join(directory, `round-${round}`))) {
			const localRank = Number(name);
			if (!Number.isInteger(localRank)) continue;
			const folder = workerDirectory(directory, round, localRank);
			const rank = firstRank === undefined ? null : firstRank + localRank;
			for (const stream of ["stdout", "stderr"] as const) {
				this.add(join(folder, `${stream}.log`), {
					...{ nodeId: basename(directory), rank, localRank, round, stream },
				});
			}
		}
	}

	private add(path: string, origin: LogSource["origin"]): void {
		if (this.sourcesByName.has(path)) return;
		if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return;
		this.sourcesByName.set(path, new LogSource(path, origin));
	}
}

/** By round, the global rank of the node's first worker, from its launcher's log. */
function readFirstRanks(agentLog: string): ReadonlyMap<number, number> {
	const ranks = new Map<number, number>();
	for (const line of (textAt(agentLog) ?? "").split("\n")) {
		if (!line.includes('"firstRank"')) continue;
		const { round, firstRank } = fieldsOf(line);
		if (typeof round !== "number" || typeof firstRank !== "number") continue;
		ranks.set(round, firstRank);
	}
	return ranks;
}

export function launcherWords(line: string): string {
	const { level, msg } = fieldsOf(line);
	if (typeof msg !== "string") return line;
	return level === "warn" || level === "error" ? `${level}: ${msg}` : msg;
}

function fieldsOf(line: string): { readonly [field: string]: unknown } {
	// A line may be incomplete.
	const value: unknown = attempt(() => JSON.parse(line));
	return typeof value === "object" && value !== null ? { ...value } : {};
}
