import type { Notice } from "../notice.js";

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
	if (KUBERNETES_SERVICE_HOST) {
		return { source: "kubernetes", reason: "SIGTERM: the pod ends", deadline };
	}
	if (SLURM_JOB_ID) {
		return { source: "slurm", reason: "SIGTERM: the job step ends", deadline };
	}
	return { source: "command", reason: "SIGTERM", deadline };
}
