import { systemClock } from "../../base/clock.js";
import { dateAndTime } from "../../base/local-time.js";
import { runShell } from "../../supervision/shell-command.js";
import { readSlurmJob, readSqueueEnd, type SlurmJob } from "./read-slurm.js";
import type { OpenSource, SourceContext } from "./source.js";
import { drainAt, TimedNotice } from "./timed-notice.js";

/** How long Slurm's controller may take to say when the job ends. */
const SQUEUE_WITHIN_MS = 10_000;

/** Says when a job ends, in milliseconds since 1970; undefined if that is not known. `stop`: nobody waits any more. */
export type AskForEnd = (
	jobId: string,
	stop: AbortSignal,
) => Promise<number | undefined>;

export interface SlurmOptions extends SourceContext {
	readonly drainBeforeMs: number;
	/** When this agent came, in milliseconds since 1970. */
	readonly startedAt: number;
	readonly askForEnd?: AskForEnd | undefined;
}

/** The end of the Slurm job that this process runs in. */
export class Slurm implements OpenSource {
	private timed: TimedNotice | undefined;
	private readonly closed = new AbortController();

	constructor(options: SlurmOptions) {
		const job = readSlurmJob(options.environment);
		if (job !== undefined) void this.open(job, options);
	}

	close(): void {
		this.closed.abort();
		this.timed?.close();
	}

	private async open(job: SlurmJob, options: SlurmOptions): Promise<void> {
		const { log, clock, askForEnd = askSqueue } = options;
		const stop = this.closed.signal;
		const end = job.endsAt ?? (await askForEnd(job.queuedAs, stop));
		if (stop.aborted) return;
		const restarts =
			job.restarts === 0 ? "" : ` (restart ${job.restarts} of the job)`;
		const name = `Slurm job ${job.id}${restarts}`;
		if (end === undefined) {
			log.info(
				`${name}: its end time is not known, so this node does not leave before it`,
			);
			return;
		}
		if (end <= clock.wallTime()) {
			log.info(
				`${name}: its end time, ${dateAndTime(end)}, has passed, and is ignored`,
			);
			return;
		}
		const { startedAt: from, drainBeforeMs } = options;
		const known = { from, end, drainBeforeMs };
		const drain = `${Math.round((end - drainAt(known)) / 1_000)} s before`;
		log.info(`${name} ends at ${dateAndTime(end)}: this node leaves ${drain}`);
		this.timed = new TimedNotice(
			known,
			{ source: "slurm", reason: `Slurm job ${job.id} is at its time limit` },
			options,
		);
	}
}

/** Slurm before 23.11 does not put the end into the environment. It may hang, or be a script that has started others. */
const askSqueue: AskForEnd = async (jobId, stop) => {
	const lines: string[] = [];
	const end = await runShell(
		{
			command: `squeue -h -j '${jobId}' -o %e 2>/dev/null`,
			...{ cwd: ".", stop },
			timeoutMs: SQUEUE_WITHIN_MS,
			onLine: (line) => lines.push(line),
		},
		systemClock,
	);
	const isAnswer = end.kind === "exited" && end.exitCode === 0;
	return isAnswer ? readSqueueEnd(lines.join("\n")) : undefined;
};
