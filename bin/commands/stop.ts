import { EXIT_CODES } from "../../src/base/errors.js";
import { formatCount, formatDuration } from "../../src/base/units.js";
import { plainMessage } from "../../src/logs/index.js";
import { type StopReport, stopFoundRun } from "../../src/operate/index.js";
import { printResult, say } from "../console.js";
import {
	type AskedCommand,
	namedRun,
	noRun,
	RunCommand,
	timeoutOf,
	WAIT_FLAGS,
} from "../run-command.js";

const ABOUT = `Ends a run on all of its nodes: their workers get SIGTERM, and SIGKILL after the
run's shutdown time-out; each launcher exits with 5. It waits until all
launchers have ended, at most for --timeout (by default as long as the run's own
time-outs allow), and then names the nodes that are left.
Exit code: 0; 1 if there is no such run, or a node is left; 3 if its keys cannot
be read; 4 if the store does not answer.`;

export const command = new RunCommand("stop", "RUN_ID", ABOUT)
	.owns(WAIT_FLAGS)
	.onRun(endRun);

async function endRun(asked: AskedCommand): Promise<number> {
	const { flags, places, searcher, isJson } = asked;
	const runId = namedRun(asked);
	const isAwaited = !flags.value(WAIT_FLAGS.noWait);
	const { userName, hostName } = searcher.host;
	const report = await stopFoundRun(
		{
			runId,
			reason: `elastic-run stop by ${userName} on ${hostName}`,
			timeoutMs: timeoutOf(asked),
			onEnded: (outcome, nodes, longestMs) => {
				if (!isAwaited || nodes.length === 0) return;
				const who = nodes.map(({ nodeId }) => nodeId).join(", ");
				say(
					`the run ${outcome.result}; waiting for ${who} to go, at most ${formatDuration(longestMs)}`,
				);
			},
			onUnseen: (nodeIds) =>
				say(
					`${nodeIds.join(", ")} may work on together without the store, and end only when they reach it; docs/links.md`,
				),
		},
		places,
		searcher,
	);
	if (report === undefined) throw noRun(runId, places);
	printResult(isJson, report, () => inWords(report, isAwaited));
	const isDone = !isAwaited || report.left.length === 0;
	return isDone ? EXIT_CODES.succeeded : EXIT_CODES.failed;
}

function inWords(report: StopReport, isAwaited: boolean): string {
	const { runId, outcome, hadEnded, left } = report;
	const end =
		outcome === null
			? "its launcher was told to stop"
			: `${hadEnded ? "had ended before, " : ""}${outcome.result}: ${outcome.reason}`;
	const who = left.map(
		({ nodeId, state, pid, address }) =>
			`  ${nodeId}: ${state}, launcher ${pid} on ${address}`,
	);
	const rest =
		left.length === 0
			? "no agent is left"
			: `${formatCount(left.length, "node")} ${isAwaited ? "did not go in time" : "about to go"}`;
	return [`run ${runId}: ${end}; ${rest}`, ...who]
		.map((line) => `${plainMessage(line)}\n`)
		.join("");
}
