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
