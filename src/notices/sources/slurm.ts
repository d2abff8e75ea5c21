import { systemClock } from "../../base/clock.js";
import { dateAndTime } from "../../base/local-time.js";
import { runShell } from "../../processes/index.js";
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
			cwd: ".",
			stop,
			timeoutMs: SQUEUE_WITHIN_MS,
			onLine: (line) => lines.push(line),
		},
		systemClock,
	);
	const isAnswer = end.kind === "exited" && end.exitCode === 0;
	return isAnswer ? readSqueueEnd(lines.join("\n")) : undefined;
};

/** The job of Slurm in which this process runs. */
export interface SlurmJob {
	readonly id: string;
	/** What squeue calls it: the number of one job of an array may mean all of them. */
	readonly queuedAs: string;
	/** In milliseconds since 1970; undefined if the environment does not say it. */
	readonly endsAt: number | undefined;
	/** How often Slurm has queued the job again. */
	readonly restarts: number;
}

/** Undefined outside of Slurm. */
export function readSlurmJob(
	environment: Readonly<Record<string, string | undefined>>,
): SlurmJob | undefined {
	const { SLURM_JOB_ID, SLURM_JOB_END_TIME, SLURM_RESTART_COUNT } = environment;
	const { SLURM_ARRAY_JOB_ID, SLURM_ARRAY_TASK_ID } = environment;
	if (!isNumber(SLURM_JOB_ID)) return undefined;
	const isOfArray =
		isNumber(SLURM_ARRAY_JOB_ID) && isNumber(SLURM_ARRAY_TASK_ID);
	return {
		id: SLURM_JOB_ID,
		queuedAs: isOfArray
			? `${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}`
			: SLURM_JOB_ID,
		endsAt: numberIn(SLURM_JOB_END_TIME, 11, 1_000),
		restarts: numberIn(SLURM_RESTART_COUNT, 6, 1) ?? 0,
	};
}

/** What `squeue -o %e` prints: a time of this machine's zone; undefined if it names none. */
export function readSqueueEnd(printed: string): number | undefined {
	const text = printed.trim();
	if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(text)) return undefined;
	const time = Date.parse(text);
	return Number.isNaN(time) ? undefined : time;
}

/** It becomes an argument of squeue. */
function isNumber(text: string | undefined): text is string {
	return text !== undefined && /^\d{1,12}$/.test(text);
}

function numberIn(
	text: string | undefined,
	digits: number,
	unit: number,
): number | undefined {
	const isIt =
		text !== undefined && /^\d+$/.test(text) && text.length <= digits;
	return isIt ? Number(text) * unit : undefined;
}
