import { formatDuration } from "../../src/agent/report/units.js";
import { EXIT_CODES } from "../../src/errors.js";
import { say } from "../console.js";
import { type AskedCommand, refuse, runCommand } from "./run-request.js";
import { readTimeout } from "./timeout.js";

const USAGE = `Usage: elastic-run leave [RUN_ID] [--run-id ID] [--node-id ID] [--no-wait] [--timeout TIME]
                         [--config FILE] [--output text|json]

Makes this machine's node leave its run, which goes on elsewhere if enough nodes are left: its
launcher gets the signal for that (SIGTERM, unless it minds others only), ends its workers and exits
with 128 + the signal's number. Where several nodes are on this machine, name one. A signal is sent
only to a process that is proven to be that launcher. Waits until it is gone.
Exit code: 0, 1 where it is not gone after --timeout, 2 where no node is meant, or several are.
`;

/** Makes this node go. Returns the exit code. */
export function leave(args: readonly string[]): Promise<number> {
	return runCommand("leave", USAGE, args, makeLeave);
}

async function makeLeave(asked: AskedCommand): Promise<number> {
	const { own, named, searcher, isJson } = asked;
	const timeout = readTimeout("leave", own);
	if ("problems" in timeout) return refuse(timeout.problems);
	const { environment } = searcher.host;
	const { leaveRun } = await import("../../src/agent/operate/leave-run.js");
	const { isAwaited, timeoutMs } = timeout;
	const report = await leaveRun(
		{
			// A worker knows whose it is.
			runId:
				asked.runId ??
				own.get("run-id") ??
				named.runId ??
				(environment.ELASTIC_RUN_RUN_ID || undefined),
			nodeId:
				own.get("node-id") ??
				named.nodeId ??
				(environment.ELASTIC_RUN_NODE_ID || undefined),
			timeoutMs,
			onTold: ({ signal, pid }, longestMs) => {
				if (!isAwaited) return;
				say(
					`${signal} sent to pid ${pid}; waiting for it to go, at most ${formatDuration(longestMs)}`,
				);
			},
		},
		searcher,
	);
	const { nodeId, runId, gone } = report;
	const end = gone
		? "has left"
		: isAwaited
			? "did not go in time"
			: "was told to leave";
	process.stdout.write(
		isJson
			? `${JSON.stringify(report)}\n`
			: `${nodeId} of run ${runId} (pid ${report.pid}) ${end}\n`,
	);
	return gone || !isAwaited ? EXIT_CODES.succeeded : EXIT_CODES.failed;
}
