import { EXIT_CODES } from "../../src/base/errors.js";
import { formatDuration } from "../../src/base/units.js";
import { parseDeadline } from "../../src/config/parse/deadline.js";
import { confirmed } from "../confirmed.js";
import { printResult, say } from "../console.js";
import { refuse } from "./command-arguments.js";
import { FlagReader } from "./flag-reader.js";
import { giveOrder } from "./order-node.js";
import { type AskedCommand, runCommand } from "./run-request.js";
import { readTimeout } from "./timeout.js";

const ABOUT = `With --deadline: tells NODE, wherever it is, that it must be gone by then (a
duration, or an ISO time). Its workers are told, as by a notice of the cloud;
they get SIGTERM when they are ready to end, or in time for the deadline. The
command does not wait. --cancel takes that back. The run is --run-id, or the
only one.
Without: makes a node of this machine leave its run. The run goes on elsewhere
if enough nodes are left. The node's launcher gets SIGTERM (or, if it does not
handle that, or has --termination-grace, another signal), ends its workers, and
exits with 128 + the signal's number. Name the run or the node. Without a name
the command asks before it stops the only node here; if nobody can answer, it
stops nothing. It sends the signal only if it is certain that the process is
that launcher.
It waits until the launcher has ended.
Exit code: 0; 1 if the launcher has not ended after --timeout; 2 if no node was
named or found, if several fit, or if the launcher cannot be signalled.
`;

/** Makes this node leave. Returns the exit code. */
export function leave(args: readonly string[]): Promise<number> {
	return runCommand("leave", ABOUT, args, makeLeave);
}

async function makeLeave(asked: AskedCommand): Promise<number> {
	const { flags, named, searcher, isJson } = asked;
	if (flags.has("cancel")) {
		return flags.has("deadline")
			? refuse(["leave: --cancel takes a deadline back: give one of the two"])
			: giveOrder("leave", asked, { kind: "stay" });
	}
	if (flags.has("deadline")) return drain(asked);
	const timeout = readTimeout("leave", flags);
	if ("problems" in timeout) return refuse(timeout.problems);
	const { environment } = searcher.host;
	const { leaveRun } = await import("../../src/operate/leave-run.js");
	const { isAwaited, timeoutMs } = timeout;
	const report = await leaveRun(
		{
			// A worker's environment names its run.
			runId:
				asked.runId ??
				named.runId ??
				(environment.ELASTIC_RUN_RUN_ID || undefined),
			nodeId: named.nodeId ?? (environment.ELASTIC_RUN_NODE_ID || undefined),
			timeoutMs,
			isMeant: (who) => confirmed(`make ${who} leave?`),
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
	printResult(
		isJson,
		report,
		() => `${nodeId} of run ${runId} (pid ${report.pid}) ${end}\n`,
	);
	return gone || !isAwaited ? EXIT_CODES.succeeded : EXIT_CODES.failed;
}

function drain(asked: AskedCommand): Promise<number> | number {
	const { flags, searcher } = asked;
	const reader = new FlagReader("leave", flags);
	const wallTime = searcher.clock.wallTime();
	const deadline = reader.read("deadline", parseDeadline(wallTime));
	const { problems } = reader;
	return problems.length > 0
		? refuse(problems)
		: giveOrder("leave", asked, { kind: "drain", deadline });
}
