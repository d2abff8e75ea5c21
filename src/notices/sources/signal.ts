import type { Notice } from "../../model/index.js";

/**
 * The notice in a platform's SIGTERM; undefined if it is none. A platform that ends a pod or a job sends SIGTERM, and
 * SIGKILL after a time that only its settings tell.
 * @param wallTime when it came, in milliseconds since 1970
 */
export function signalNotice(
	signal: string,
	graceMs: number | undefined,
	environment: Readonly<Record<string, string | undefined>>,
	wallTime: number,
): Notice | undefined {
	if (signal !== "SIGTERM" || graceMs === undefined) return undefined;
	const deadline = wallTime + graceMs;
	const { KUBERNETES_SERVICE_HOST, SLURM_JOB_ID } = environment;
	// The same source may say something else as well, such as the end of the job.
	const about = { deadline, origin: signal };
	if (KUBERNETES_SERVICE_HOST) {
		return { ...about, source: "kubernetes", reason: "SIGTERM: the pod ends" };
	}
	if (SLURM_JOB_ID) {
		return { ...about, source: "slurm", reason: "SIGTERM: the job step ends" };
	}
	return { ...about, source: "command", reason: "SIGTERM" };
}
