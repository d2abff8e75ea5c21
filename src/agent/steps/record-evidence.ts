import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import type { Logger } from "../../base/logger.js";
import type { AgentConfig } from "../../config/agent-config.js";
import type { Verdict } from "../../evidence/evidence.js";
import {
	type Testimony,
	takeEvidence,
	type Witness,
} from "../../evidence/take-evidence.js";
import {
	makeEvidenceDirectory,
	writeTestimony,
	writeVerdict,
} from "../../evidence/write-evidence.js";
import type { RankEvidence } from "../../model/evidence.js";
import type { WorkerProgress } from "../../rendezvous/records/progress-record.js";
import type { WorkerProcess } from "../workers/worker-process.js";

type Warn = Pick<Logger, "warn">;

export interface RecordEvidenceOptions {
	readonly clock: Clock;
	readonly log: Warn;
	readonly config: Pick<AgentConfig, "nodeId"> & {
		readonly command: Pick<AgentConfig["command"], "cwd">;
	};
	/** This node's log directory. */
	readonly logDirectory: string;
	readonly processes: () => readonly WorkerProcess[];
	readonly round: number;
	/** What its directory is called. */
	readonly name: "hang" | "stuck";
	/** By when all must be there, on the clock. */
	readonly until: number;
}

/** What was found out about this node's workers, and where it lies on disk. */
export interface RecordedEvidence {
	readonly own: readonly RankEvidence[];
	/** Undefined if it could not be written. */
	readonly directory: string | undefined;
}

/** Finds out what this node's workers do, and writes it into a directory of its own. Never rejects. */
export async function recordEvidence(
	progress: readonly WorkerProgress[],
	options: RecordEvidenceOptions,
): Promise<RecordedEvidence> {
	const { clock, config, until } = options;
	const testimonies = await takeEvidence(
		witnessesOf(options.processes(), progress),
		{ clock, until, nodeId: config.nodeId, cwd: config.command.cwd },
	);
	return {
		own: testimonies.map(({ evidence }) => evidence),
		directory: write(testimonies, options),
	};
}

/**
 * Writes the verdict beside the evidence.
 * @param noticedAt when the launcher began to ask, in milliseconds since 1970
 */
export function recordVerdict(
	directory: string | undefined,
	verdict: Verdict,
	{ stillMs, noticedAt }: { stillMs: number; noticedAt: number },
	log: Warn,
): void {
	if (directory === undefined) return;
	const times = { stillSeconds: stillMs / 1_000, noticedAt };
	attempt(log, () => writeVerdict(directory, { ...verdict, ...times }));
}

function write(
	testimonies: readonly Testimony[],
	{ logDirectory, round, name, log }: RecordEvidenceOptions,
): string | undefined {
	return attempt(log, () => {
		const directory = makeEvidenceDirectory(logDirectory, round, name);
		for (const testimony of testimonies) writeTestimony(directory, testimony);
		return directory;
	});
}

/** A full disk must not keep a hang from being ended. */
function attempt<Value>(log: Warn, work: () => Value): Value | undefined {
	try {
		return work();
	} catch (error) {
		log.warn(`evidence cannot be written: ${messageOf(error)}`);
		return undefined;
	}
}

/** The workers whose evidence is wanted, with their last steps. */
export function witnessesOf(
	processes: readonly WorkerProcess[],
	progress: readonly WorkerProgress[],
): readonly Witness[] {
	const steps = new Map(
		progress.map(({ localRank, step }) => [localRank, step]),
	);
	return processes.map(({ rank, localRank, pid, directory, logs }) => ({
		...{ rank, localRank, pid, directory },
		outputs: (["stdout", "stderr"] as const).flatMap((name) => {
			const file = logs?.[name]?.file;
			return file === undefined ? [] : [{ name, file }];
		}),
		step: steps.get(localRank),
	}));
}
