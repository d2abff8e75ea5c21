import { alignColumns } from "../../base/table.js";
import { formatCount, formatDuration } from "../../base/units.js";
import { plainMessage } from "../../logs/plain-text.js";
import {
	backWords,
	budgetOwner,
	forEachOwner,
	leftOfNode,
	leftOfRoles,
	windowOf,
} from "../../rendezvous/describe/budget-words.js";
import { stateInWords } from "../../rendezvous/describe/node-state.js";
import type {
	NodeStatus,
	PreflightStatus,
	RunStatus,
} from "../../rendezvous/describe/run-status.js";
import {
	hangInWords,
	stepsInWords,
	stragglerInWords,
} from "../../rendezvous/describe/steps-words.js";
import type { FoundRun } from "./describe-runs.js";
import {
	coldReasons,
	STARTS_HEADER,
	showsStarts,
	startCells,
} from "./format-starts.js";

/** At most this many of a node's workers are named by pid. */
const MOST_PIDS = 8;

export const PHASES: Readonly<Record<RunStatus["phase"], string>> = {
	forming: "forming its first round",
	running: "running",
	leaving: "its round is being left",
	waiting: "between two rounds",
	ended: "ended",
	abandoned: "not ended, but has no agents",
};

/**
 * One run as text, with a newline at its end.
 * @param wallTime milliseconds since 1970
 */
export function formatStatus(status: RunStatus, wallTime: number): string {
	const ago = agoFrom(wallTime);
	const lines = [
		headline(status, ago),
		...[
			outcomeLine(status),
			figuresLine(status),
			budgetLine(status, wallTime),
			incidentLine(status, ago),
			status.hang
				? `  no step for ${ago(status.hang.since)}: ${hangInWords(status.hang)}`
				: "",
			status.straggler ? `  ${stragglerInWords(status.straggler)}` : "",
			status.waiting === null ? "" : waitingLine(status.waiting, ago),
			...coldReasons(status.nodes),
			...status.preflights.map((one) => preflightLine(one, ago)),
		].filter((line) => line !== ""),
		...nodeTable(status, wallTime),
	];
	return lines.map((line) => `${plainMessage(line)}\n`).join("");
}

type Ago = (time: number) => string;

function agoFrom(wallTime: number): Ago {
	return (time) => formatDuration(Math.max(0, wallTime - time));
}

function headline({ runId, phase, round, since }: RunStatus, ago: Ago): string {
	const parts = [
		PHASES[phase],
		...(round > 0 ? [`round ${round}`] : []),
		...(since === null ? [] : [`since ${ago(since)}`]),
	];
	return `run ${runId}: ${parts.join(", ")}`;
}

function outcomeLine({ outcome }: RunStatus): string {
	if (outcome === null) return "";
	return `  ${outcome.result}, exit code ${outcome.exitCode}: ${outcome.reason}`;
}

function figuresLine(status: RunStatus): string {
	const { world, minNodes, maxNodes, coordinator } = status;
	const asked =
		minNodes === maxNodes ? `${maxNodes}` : `${minNodes}:${maxNodes}`;
	const figures =
		world === null
			? [`nnodes ${asked}`]
			: [
					`${formatCount(world.worldSize, "worker")} on ${formatCount(world.groupWorldSize, "node")} (nnodes ${asked})`,
					`master ${world.masterAddr}:${world.masterPort}`,
				];
	const planner = coordinator === null ? [] : [`${coordinator} coordinates`];
	return `  ${[...figures, ...planner].join(", ")}`;
}

function budgetLine(
	{ restarts, roleRestarts = {}, incidents, policy }: RunStatus,
	wallTime: number,
): string {
	if (restarts === null) return "";
	const allowed = formatCount(restarts.allowed, "restart") + windowOf(restarts);
	const owner = budgetOwner(policy);
	const budget =
		owner === undefined
			? `${restarts.left} of ${allowed} left${backWords(restarts, wallTime)}`
			: `a budget of ${forEachOwner(restarts, allowed, owner)}`;
	const roles = leftOfRoles(roleRestarts, wallTime).map((one) => `, ${one}`);
	return `  policy ${policy}, ${formatCount(incidents, "incident")}, ${budget}${roles.join("")}`;
}

function incidentLine({ lastIncident }: RunStatus, ago: Ago): string {
	if (lastIncident === null) return "";
	const { round, at, reason, root } = lastIncident;
	const process = root.pid === null ? "no process" : `pid ${root.pid}`;
	const when = at === null ? "" : `, ${ago(at)} ago`;
	return `  last incident: ${reason} (${process}), round ${round}${when}`;
}

function waitingLine(
	{ words, since }: NonNullable<RunStatus["waiting"]>,
	ago: Ago,
): string {
	return `  ${words}${since === null ? "" : `; since ${ago(since)}`}`;
}

/** Only a finding is worth a line. */
function preflightLine(
	{ nodeId, verdict, findings, at }: PreflightStatus,
	ago: Ago,
): string {
	if (verdict === "passed") return "";
	return `  preflight of ${nodeId} ${verdict}, ${ago(at)} ago: ${findings.join("; ")}`;
}

/** A node's budget is shown if a policy charges it. */
function nodeTable(status: RunStatus, wallTime: number): readonly string[] {
	const { nodes, policy } = status;
	if (nodes.length === 0) return [];
	const ago = agoFrom(wallTime);
	const hasBudgets =
		policy !== "hard" || nodes.some(({ restarts }) => restarts?.used);
	const header = ["node", "role", "ranks", "state", "since", "launcher"];
	const hasSteps = nodes.some(({ workers }) => workers.length > 0);
	const hasStarts = showsStarts(nodes);
	const rows = nodes.map((node) => [
		node.nodeId,
		node.role,
		ranksOf(node),
		stateInWords(node, status),
		node.since === null ? "-" : ago(node.since),
		node.pid === null ? "-" : `${node.pid} on ${node.address}`,
		...(hasBudgets ? [leftOfNode(node, wallTime) ?? "-"] : []),
		...(hasStarts ? startCells(node) : []),
		...(hasSteps ? [stepsInWords(node.workers)] : []),
		pidsOf(node),
	]);
	const last = [
		...(hasBudgets ? ["restarts left"] : []),
		...(hasStarts ? STARTS_HEADER : []),
		...(hasSteps ? ["step"] : []),
		"workers",
	];
	return ["", ...alignColumns([[...header, ...last], ...rows])];
}

function ranksOf({ ranks }: NodeStatus): string {
	if (ranks === null) return "-";
	const [first, last] = ranks;
	return first === last ? `${first}` : `${first}-${last}`;
}

function pidsOf({ workerPids }: NodeStatus): string {
	if (workerPids.length === 0) return "-";
	const named = workerPids.slice(0, MOST_PIDS).map((pid) => pid ?? "-");
	const others = workerPids.length - named.length;
	return `${named.join(" ")}${others > 0 ? ` and ${others} more` : ""}`;
}

/** All runs that were found, one line each. */
export function formatRuns(
	runs: readonly FoundRun[],
	wallTime: number,
): string {
	if (runs.length === 0) return "no runs\n";
	const rows = runs.map(({ status, place, isRecord }) => {
		const { runId, phase, outcome, round, nodes, since } = status;
		return [
			runId,
			outcome === null ? phase : outcome.result,
			String(round),
			String(nodes.filter(({ pid }) => pid !== null).length),
			since === null ? "-" : formatDuration(Math.max(0, wallTime - since)),
			isRecord ? "ended here" : place,
		];
	});
	const header = ["run", "phase", "round", "agents", "since", "where"];
	return alignColumns([header, ...rows])
		.map((line) => `${plainMessage(line)}\n`)
		.join("");
}
