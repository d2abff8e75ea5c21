import { EXIT_CODES } from "../../src/base/errors.js";
import { formatCount, formatInstant } from "../../src/base/units.js";
import type { NodeOrder, OrderReport } from "../../src/operate/order-node.js";
import { printResult } from "../console.js";
import { refuse } from "./command-arguments.js";
import type { CommandName } from "./command-table.js";
import { onlyRun } from "./only-run.js";
import { type AskedCommand, runCommand, sayNotFound } from "./run-request.js";

const CORDON = `Keeps a node from later rounds: it finishes its present round, and then waits as
a spare until elastic-run uncordon NODE. Nothing is stopped. Name the run with
--run-id, unless it is the only one.
Exit code: 0; 1 if there is no such run; 2 if it has no such node or no store;
4 if the store does not answer.
`;
const UNCORDON = `Lets a node take part in later rounds again, after elastic-run cordon NODE. Name
the run with --run-id, unless it is the only one.
Exit code: 0; 1 if there is no such run; 2 if it has no such node or no store;
4 if the store does not answer.
`;

/** Keeps a node from later rounds. Returns the exit code. */
export function cordon(args: readonly string[]): Promise<number> {
	return runCommand("cordon", CORDON, args, (asked) =>
		giveOrder("cordon", asked, { kind: "cordon" }),
	);
}

/** Lets a node take part again. Returns the exit code. */
export function uncordon(args: readonly string[]): Promise<number> {
	return runCommand("uncordon", UNCORDON, args, (asked) =>
		giveOrder("uncordon", asked, { kind: "uncordon" }),
	);
}

/** Tells the node that the command names what it shall do. Returns the exit code. */
export async function giveOrder(
	command: CommandName,
	asked: AskedCommand,
	order: NodeOrder,
): Promise<number> {
	const { named, places, searcher, isJson } = asked;
	// The operand of these commands is a node.
	const nodeId = asked.runId ?? named.nodeId;
	if (nodeId === undefined) {
		return refuse([`${command}: name a node: elastic-run ${command} NODE`]);
	}
	const { environment, userName, hostName } = searcher.host;
	const runId =
		named.runId ??
		(environment.ELASTIC_RUN_RUN_ID || undefined) ??
		(await onlyRun(command, asked));
	if (typeof runId === "number") return runId;
	const { orderNode } = await import("../../src/operate/order-node.js");
	const reason = `elastic-run ${command} by ${userName} on ${hostName}`;
	const report = await orderNode(
		{ runId, nodeId, order, reason },
		places,
		searcher,
	);
	if (report === undefined) return sayNotFound(runId, places);
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
		cordon: "takes no later round, until elastic-run uncordon",
		uncordon: "may take later rounds",
	}[order];
	return `${nodeId} of run ${runId} ${what}\n${tooFew(report)}`;
}

/** What follows if another round needs more nodes than are left; empty if it does not. */
function tooFew({ order, left, minNodes }: OrderReport): string {
	// Where the last node leaves, none is there that waits.
	const isLess = order === "cordon" || (order === "drain" && left > 0);
	if (!isLess || minNodes === null || left >= minNodes) return "";
	return `a later round needs ${formatCount(minNodes, "node")}, and ${left} may take part: the run would wait for more, for its join_timeout at most\n`;
}
