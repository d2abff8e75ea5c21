import type { FailureRecord } from "../rendezvous/records/failure.js";
import type { RunReport } from "./run-report.js";

/**
 * The text of the launcher's own error file after a failed run: the root cause in the format of torch's `@record`, which
 * schedulers read. Undefined if the run has not failed. `wallTime`: milliseconds since 1970.
 */
export function launcherErrorText(
	report: RunReport,
	wallTime: number,
): string | undefined {
	if (report.outcome !== "failed") return undefined;
	const { rootCause, reason, exitCode } = report;
	const failure = rootCause?.failure;
	const words = rootCause?.error?.message ?? failure?.message;
	const first = failure === undefined ? reason : rootCauseLine(failure);
	return JSON.stringify({
		message: {
			message: words ?? first,
			errorCode: failure?.exitCode ?? exitCode,
			extraInfo: {
				py_callstack: rootCause?.error?.stack ?? words ?? first,
				timestamp: String(Math.floor((failure?.timestamp ?? wallTime) / 1000)),
				root_cause: first,
			},
		},
	});
}

/** `root cause: rank R on NODE (pid P), round K: …`; the text may hold control sequences. */
export function rootCauseLine(failure: FailureRecord): string {
	const { rank, nodeId, pid, round, description } = failure;
	const process = pid === null ? "no process" : `pid ${pid}`;
	return `root cause: rank ${rank} on ${nodeId} (${process}), round ${round}: ${description}`;
}
