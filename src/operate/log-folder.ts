import { readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { workerDirectory } from "../logs/log-directory.js";
import { entriesOf, type RunLogs } from "./find-logs.js";
import { LogSource } from "./log-source.js";

const AGENT_LOG = "agent.log";
const ROUND = /^round-(\d+)$/;

/** The files of a run's logs, as they appear. */
export class LogFolder {
	private readonly sourcesByName = new Map<string, LogSource>();

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
	for (const line of readOrEmpty(agentLog).split("\n")) {
		if (!line.includes('"firstRank"')) continue;
		const { round, firstRank } = fieldsOf(line);
		if (typeof round !== "number" || typeof firstRank !== "number") continue;
		ranks.set(round, firstRank);
	}
	return ranks;
}

/** A line of the launcher's log as text. */
export function launcherWords(line: string): string {
	const { level, msg } = fieldsOf(line);
	if (typeof msg !== "string") return line;
	return level === "warn" || level === "error" ? `${level}: ${msg}` : msg;
}

function fieldsOf(line: string): { readonly [field: string]: unknown } {
	try {
		const value: unknown = JSON.parse(line);
		return typeof value === "object" && value !== null ? { ...value } : {};
	} catch {
		// The line is incomplete.
		return {};
	}
}

function readOrEmpty(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return "";
	}
}
