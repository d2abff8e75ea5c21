import { createInterface } from "node:readline";
import { isatty } from "node:tty";
import { systemClock } from "../../src/base/clock.js";
import { EXIT_CODES } from "../../src/base/errors.js";
import {
	formatCount,
	formatDuration,
	formatInstant,
} from "../../src/base/units.js";
import {
	OPTIONS,
	onOff,
	optionsOf,
	parseDeadline,
} from "../../src/config/index.js";
import {
	leaveRun,
	type NodeOrder,
	type OrderReport,
	orderNode,
} from "../../src/operate/index.js";
import { refusal } from "../command.js";
import { printResult, say } from "../console.js";
import {
	type AskedCommand,
	namedOrOnlyRun,
	noRun,
	RunCommand,
	timeoutOf,
	WAIT_FLAGS,
} from "../run-command.js";

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
named or found, if several fit, or if the launcher cannot be signalled.`;

const FLAGS = optionsOf("Command", {
	deadline: {
		argument: "TIME",
		help: "when the node must be gone: a duration, or an ISO time",
		parse: (text) => parseDeadline(systemClock.wallTime())(text),
	},
	cancel: onOff("take a deadline back"),
});

export const command = new RunCommand("leave", "[RUN_ID|NODE]", ABOUT)
	.owns({ ...FLAGS, ...WAIT_FLAGS })
	.takes(OPTIONS.runId, OPTIONS.nodeId)
	.onRun(makeLeave);

async function makeLeave(asked: AskedCommand): Promise<number> {
	const { word, given, flags, named, searcher, isJson } = asked;
	const hasDeadline = given.has(FLAGS.deadline.key);
	if (flags.value(FLAGS.cancel)) {
		if (!hasDeadline) return giveOrder(asked, { kind: "stay" });
		throw refusal(word, "--cancel takes a deadline back: give one of the two");
	}
	if (hasDeadline) {
		const deadline = flags.given(FLAGS.deadline);
		return giveOrder(asked, { kind: "drain", deadline });
	}
	const { environment } = searcher.host;
	const isAwaited = !flags.value(WAIT_FLAGS.noWait);
	const report = await leaveRun(
		{
			// A worker's environment names its run.
			runId:
				asked.runId ??
				named.runId ??
				(environment.ELASTIC_RUN_RUN_ID || undefined),
			nodeId: named.nodeId ?? (environment.ELASTIC_RUN_NODE_ID || undefined),
			timeoutMs: timeoutOf(asked),
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

/** Writes the order for the node that the command names. Returns the exit code. */
async function giveOrder(
	asked: AskedCommand,
	order: NodeOrder,
): Promise<number> {
	const { word, named, places, searcher, isJson } = asked;
	// Here the operand is a node.
	const nodeId = asked.runId ?? named.nodeId;
	if (nodeId === undefined) {
		throw refusal(word, "name a node: elastic-run leave NODE");
	}
	const { environment, userName, hostName } = searcher.host;
	const runId =
		named.runId ??
		(environment.ELASTIC_RUN_RUN_ID || undefined) ??
		(await namedOrOnlyRun({ ...asked, runId: undefined }));
	const reason = `elastic-run leave by ${userName} on ${hostName}`;
	const report = await orderNode(
		{ runId, nodeId, order, reason },
		places,
		searcher,
	);
	if (report === undefined) throw noRun(runId, places);
	printResult(isJson, report, () => orderInWords(report));
	return EXIT_CODES.succeeded;
}

/** What the command prints. */
export function orderInWords(report: OrderReport): string {
	const { runId, nodeId, order, deadline } = report;
	const by = deadline === null ? "" : ` by ${formatInstant(deadline)}`;
	const what = {
		drain: `is told to leave${by}`,
		stay: "is told to stay",
	}[order];
	return `${nodeId} of run ${runId} ${what}\n${tooFew(report)}`;
}

/** What follows if another round needs more nodes than are left; empty if it does not. */
function tooFew({ order, left, minNodes }: OrderReport): string {
	// Where the last node leaves, none is there that waits.
	const isLess = order === "drain" && left > 0;
	if (!isLess || minNodes === null || left >= minNodes) return "";
	return `a later round needs ${formatCount(minNodes, "node")}, and ${left} may take part: the run would wait for more, for its join_timeout at most\n`;
}

const STDIN = 0;

/** Asks a question on the terminal. Only "y" and "yes" count as yes; without a terminal the answer is no. */
async function confirmed(question: string): Promise<boolean> {
	if (!isatty(STDIN) || !process.stderr.isTTY) return false;
	const terminal = createInterface({
		input: process.stdin,
		output: process.stderr,
	});
	// The end of input is not a yes.
	const ended = new Promise<string>((resolve) => {
		terminal.once("close", () => resolve(""));
	});
	const answered = new Promise<string>((resolve) => {
		terminal.question(`elastic-run: ${question} [y/N] `, resolve);
	});
	const answer = await Promise.race([answered, ended]);
	terminal.close();
	return /^\s*y(es)?\s*$/i.test(answer);
}
