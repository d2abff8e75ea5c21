import { alignColumns } from "../base/table.js";
import { formatDuration } from "../base/units.js";
import { plainMessage } from "../logs/index.js";
import {
	type NodeAccount,
	type RunAccounts,
	windowOf,
} from "../status/index.js";

const HEADER = [
	...["node", "part", "charged", "failures", "last failure"],
	...["preflight", "replaced"],
];

/**
 * A run's nodes as text, with a newline at its end.
 * @param wallTime milliseconds since 1970
 */
export function formatNodes(
	{ runId, nodes }: RunAccounts,
	wallTime: number,
): string {
	const ago = (at: number) => formatDuration(Math.max(0, wallTime - at));
	const rows = nodes.map((node) => [
		node.nodeId,
		node.part,
		node.restarts === null
			? "-"
			: `${node.restarts.used} of ${node.restarts.allowed}${windowOf(node.restarts)}`,
		String(node.failures),
		lastFailure(node, ago),
		preflight(node),
		replaced(node, ago),
	]);
	return [`run ${runId}`, ...alignColumns([HEADER, ...rows])]
		.map((line) => `${plainMessage(line)}\n`)
		.join("");
}

type Ago = (at: number) => string;

function lastFailure({ lastFailure: last }: NodeAccount, ago: Ago): string {
	if (last === null) return "-";
	const { rank, description, round, timestamp } = last;
	return `rank ${rank}, round ${round}: ${description}, ${ago(timestamp)} ago`;
}

function preflight({ preflight: about }: NodeAccount): string {
	if (about === null) return "-";
	return about.findings.length === 0
		? about.verdict
		: `${about.verdict}: ${about.findings.join("; ")}`;
}

function replaced({ replaced: about }: NodeAccount, ago: Ago): string {
	if (about === null) return "-";
	const { at, reason, replacement, caredForBy, commandEnd } = about;
	return [
		`${ago(at)} ago: ${reason}`,
		...(replacement === null ? [] : [`by ${replacement}`]),
		...(commandEnd === null ? [] : [`command: ${commandEnd}`]),
		...(caredForBy === null ? [] : [`${caredForBy} cared for it`]),
	].join("; ");
}
