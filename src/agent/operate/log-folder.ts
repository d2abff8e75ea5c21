import { readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { workerDirectory } from "../logs/log-directory.js";
import { entriesOf, type RunLogs } from "./find-logs.js";
import { LogSource } from "./log-source.js";

const AGENT_LOG = "agent.log";
const ROUND = /^round-(\d+)$/;

/** The files of a run's logs, as they come into being. */
export class LogFolder {
	readonly #sources = new Map<string, LogSource>();

	constructor(private readonly nodes: RunLogs["nodes"]) {}

	get sources(): readonly LogSource[] {
		return [...this.#sources.values()];
	}

	/**
	 * Takes in what files have come.
	 * @param evenUnknown also those of whose workers the rank is not known (yet)
	 */
	refresh(evenUnknown: boolean): void {
		for (const directory of this.nodes) {
			const nodeId = basename(directory);
			const agentLog = join(directory, AGENT_LOG);
			this.#add(agentLog, {
				...{ nodeId, rank: null, localRank: null, round: null },
				stream: "launcher",
			});
			const firstRanks = readFirstRanks(agentLog);
			for (const name of entriesOf(directory)) {
				const round = Number(ROUND.exec(name)?.[1]);
				const firstRank = firstRanks.get(round);
				const isKnown = firstRank !== undefined || evenUnknown;
				if (Number.isNaN(round) || !isKnown) continue;
				this.#addRound(directory, round, firstRank);
			}
		}
	}

	#addRound(
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
				this.#add(join(folder, `${stream}.log`), {
					...{ nodeId: basename(directory), rank, localRank, round, stream },
				});
			}
		}
	}

	#add(path: string, origin: LogSource["origin"]): void {
		if (this.#sources.has(path)) return;
		if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return;
		this.#sources.set(path, new LogSource(path, origin));
	}
}

/** By round, the global rank of the node's first worker, as its launcher has logged it. */
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

/** What a line of the launcher's own log says to people. */
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
		// It was torn off.
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
