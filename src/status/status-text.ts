import { alignColumns } from "../base/table.js";
import { formatCount, formatDuration } from "../base/units.js";
import { plainMessage } from "../logs/index.js";
import type { NextStart } from "../model/index.js";
import { behindInWords } from "./behind.js";
import type {
	FoundRun,
	NodeStatus,
	PreflightStatus,
	RunDocument,
	ShownStarts,
} from "./run-document.js";
import {
	backWords,
	budgetOwner,
	busyInWords,
	forEachOwner,
	hangInWords,
	leftOfNode,
	leftOfRoles,
	pidsInWords,
	stateInWords,
	stepNoun,
	stepsInWords,
	stragglerInWords,
	windowOf,
	withSaved,
} from "./words.js";

export const PHASES: Readonly<Record<RunDocument["phase"], string>> = {
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
export function formatStatus(status: RunDocument, wallTime: number): string {
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
			...behindInWords(status.behind ?? []).map((words) => `  ${words}`),
			...busyInWords(status.busy ?? [], ago).map((words) => `  ${words}`),
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

function headline(
	{ runId, phase, round, since }: RunDocument,
	ago: Ago,
): string {
	const parts = [
		PHASES[phase],
		...(round > 0 ? [`round ${round}`] : []),
		...(since === null ? [] : [`since ${ago(since)}`]),
	];
	return `run ${runId}: ${parts.join(", ")}`;
}

function outcomeLine({ outcome }: RunDocument): string {
	if (outcome === null) return "";
	return `  ${outcome.result}, exit code ${outcome.exitCode}: ${outcome.reason}`;
}

function figuresLine(status: RunDocument): string {
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
	{ restarts, roleRestarts = {}, incidents, policy }: RunDocument,
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

function incidentLine({ lastIncident }: RunDocument, ago: Ago): string {
	if (lastIncident === null) return "";
	const { round, at, reason, root } = lastIncident;
	const process = root.pid === null ? "no process" : `pid ${root.pid}`;
	const when = at === null ? "" : `, ${ago(at)} ago`;
	return `  last incident: ${reason} (${process}), round ${round}${when}`;
}

function waitingLine(
	{ words, since }: NonNullable<RunDocument["waiting"]>,
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
function nodeTable(status: RunDocument, wallTime: number): readonly string[] {
	const { nodes, policy } = status;
	if (nodes.length === 0) return [];
	const ago = agoFrom(wallTime);
	const hasBudgets =
		policy !== "hard" || nodes.some(({ restarts }) => restarts?.used);
	const header = ["node", "role", "ranks", "state", "since", "launcher"];
	const sources = nodes.flatMap(({ workers }) =>
		workers.map(({ stepSource }) => stepSource),
	);
	const hasSteps = sources.length > 0;
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
		pidsInWords(node, "-") ?? "-",
	]);
	const last = [
		...(hasBudgets ? ["restarts left"] : []),
		...(hasStarts ? STARTS_HEADER : []),
		...(hasSteps ? [stepNoun(sources)] : []),
		"workers",
	];
	return ["", ...alignColumns([[...header, ...last], ...rows])];
}

function ranksOf({ ranks }: NodeStatus): string {
	if (ranks === null) return "-";
	const [first, last] = ranks;
	return first === last ? `${first}` : `${first}-${last}`;
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

/** At most so many different reasons are shown, those of most nodes … */
const MOST_REASONS = 4;
/** … and so many nodes with each. */
const MOST_NODES = 4;

type Node = Pick<NodeStatus, "nodeId" | "starts" | "nextStart">;

/** Whether any of these nodes may start workers warm: without warm starts nothing is shown. */
export function showsStarts(nodes: readonly Node[]): boolean {
	return nodes.some(({ starts, nextStart }) => starts ?? nextStart);
}

const STARTS_HEADER = ["started", "next start"] as const;

/** The cells of a node, below `STARTS_HEADER`. */
export function startCells({ starts, nextStart }: Node): readonly string[] {
	return [startedInWords(starts), nextInWords(nextStart)];
}

function startedInWords(starts: ShownStarts | undefined): string {
	const { warm = 0, cold = 0, savedMs } = starts ?? {};
	if (warm + cold === 0) return "-";
	if (cold === 0) return withSaved("warm", savedMs);
	return warm === 0 ? "cold" : `${warm} of ${warm + cold} warm`;
}

function nextInWords(next: NextStart | undefined): string {
	if (next === undefined) return "-";
	const { start, modules, bytes, waiting } = next;
	if (start !== "warm") return start;
	const has = [
		...(modules === undefined ? [] : [`${modules} modules`]),
		...(bytes === undefined ? [] : [`${Math.round(bytes / 1e6)} MB`]),
		...(waiting === undefined ? [] : [`${waiting} wait`]),
	];
	return has.length === 0 ? "warm" : `warm (${has.join(", ")})`;
}

/** Why starts were cold, and why the next ones will be: a line for each reason, with the nodes that it has. */
export function coldReasons(nodes: readonly Node[]): readonly string[] {
	const all = [
		...grouped("started cold", nodes, ({ starts }) => starts?.reason),
		// A helper that imports says all in its column.
		...grouped("the next start is cold", nodes, ({ nextStart }) =>
			nextStart?.start === "cold" ? nextStart.reason : undefined,
		),
	].sort((left, right) => right.nodes.length - left.nodes.length);
	const others = all.length - MOST_REASONS;
	return [
		...all
			.slice(0, MOST_REASONS)
			.map(
				({ what, reason, nodes: where }) =>
					`  ${what} on ${listed(where)}: ${reason}`,
			),
		...(others > 0 ? [`  … and ${formatCount(others, "other reason")}`] : []),
	];
}

function grouped(
	what: string,
	nodes: readonly Node[],
	reasonOf: (node: Node) => string | undefined,
) {
	const byReason = new Map<string, string[]>();
	for (const node of nodes) {
		const reason = reasonOf(node);
		if (reason === undefined) continue;
		byReason.set(reason, [...(byReason.get(reason) ?? []), node.nodeId]);
	}
	return [...byReason].map(([reason, where]) => ({
		...{ what, reason, nodes: where },
	}));
}

function listed(nodeIds: readonly string[]): string {
	const others = nodeIds.length - MOST_NODES;
	const named = nodeIds.slice(0, MOST_NODES).join(", ");
	return others > 0 ? `${named} and ${others} more` : named;
}
