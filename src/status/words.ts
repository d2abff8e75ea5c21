import {
	formatCount,
	formatDuration,
	formatInstant,
	formatRate,
} from "../base/units.js";
import type { Hang, NodeLinks, StepSource, Straggler } from "../model/index.js";
import type { Awaited, NodeList, NoticeRecord } from "../rendezvous/index.js";
import { living } from "./behind.js";
import type {
	BusyRank,
	NodeStatus,
	RestartBudget,
	RunDocument,
	WorkerStatus,
} from "./run-document.js";
import { type NodeStart, savedBy } from "./starts.js";

/** Whose budget a built-in policy charges, if it is not the run's. */
const OWNERS: Readonly<Record<string, string>> = {
	soft: "node",
	"soft-replace": "worker",
};

/** "node" or "worker"; undefined: the run. */
export function budgetOwner(policy: string | null): string | undefined {
	return policy !== null && Object.hasOwn(OWNERS, policy)
		? OWNERS[policy]
		: undefined;
}

/** "3 restarts for each node, 1 used of the run's own": a run pays where no node is known to be at fault. */
export function forEachOwner(
	{ used }: Pick<RestartBudget, "used">,
	allowed: string,
	owner: string,
): string {
	const own = used === 0 ? "" : `, ${used} used of the run's own`;
	return `${allowed} for each ${owner}${own}`;
}

/** " in 6 h 0 min"; empty without a window. */
export function windowOf({
	windowSeconds,
}: Pick<RestartBudget, "windowSeconds">): string {
	return within(windowSeconds && windowSeconds * 1_000);
}

/** The same of milliseconds. */
export function within(windowMs: number | undefined): string {
	return windowMs === undefined ? "" : ` in ${formatDuration(windowMs)}`;
}

/** " (the next one comes back in 5 h 12 min)"; empty if none does. */
export function backWords(
	{ nextBackAt = null }: Pick<RestartBudget, "nextBackAt">,
	wallTime: number,
): string {
	if (nextBackAt === null) return "";
	const ms = Math.max(0, nextBackAt - wallTime);
	return ` (the next one comes back in ${formatDuration(ms)})`;
}

/** "2", or "2 (the next one comes back in 5 h 12 min)"; undefined if it is not known. */
export function leftOfNode(
	{ restarts }: Pick<NodeStatus, "restarts">,
	wallTime: number,
): string | undefined {
	return restarts === null
		? undefined
		: `${restarts.left}${backWords(restarts, wallTime)}`;
}

/** "role trainer: 4 of 5 in 6 h 0 min left (the next one comes back in 5 h 12 min)", for each role. */
export function leftOfRoles(
	roles: Readonly<Record<string, RestartBudget>>,
	wallTime: number,
): readonly string[] {
	return Object.entries(roles).map(
		([role, own]) =>
			`role ${role}: ${own.left} of ${own.allowed}${windowOf(own)} left${backWords(own, wallTime)}`,
	);
}

/** At most this many of a node's workers are named by pid. */
const MOST_PIDS = 8;

/** "101 102 and 3 more"; undefined without workers. @param none stands for a worker that was not started */
export function pidsInWords(
	{ workerPids }: Pick<NodeStatus, "workerPids">,
	none: string,
): string | undefined {
	if (workerPids.length === 0) return undefined;
	const named = workerPids.slice(0, MOST_PIDS).map((pid) => pid ?? none);
	const others = workerPids.length - named.length;
	return `${named.join(" ")}${others > 0 ? ` and ${others} more` : ""}`;
}

/** A node's state for people. Its reason for leaving is its own text, which may hold control sequences. */
export function stateInWords(
	node: NodeStatus,
	run: Pick<RunDocument, "nodes" | "minNodes" | "outcome">,
): string {
	const { state, cause, notice } = node;
	if (state === "leaving" && cause !== null) return `leaving (${cause})`;
	const words = partInWords(node, run);
	return notice === null ? words : `${words} (${noticeInWords(notice)})`;
}

/** "notice from aws: spot interruption, gone at 2026-11-26 12:00:00 UTC". */
function noticeInWords({ source, reason, deadline }: NoticeRecord): string {
	const by =
		deadline === undefined ? "" : `, gone at ${formatInstant(deadline)}`;
	return `notice from ${source}: ${reason}${by}`;
}

function partInWords(
	{ state, part }: NodeStatus,
	run: Pick<RunDocument, "nodes" | "minNodes" | "outcome">,
): string {
	if (part === "refused") return "refused";
	if (state !== "ready") return state;
	if (part === "spare") return "ready (spare)";
	if (part === "waiting" && run.outcome === null) return waitsFor(run);
	return state;
}

function waitsFor({
	nodes,
	minNodes,
}: Pick<RunDocument, "nodes" | "minNodes">): string {
	const here = nodes.filter(
		({ part, state }) =>
			part !== "refused" && state !== "gone" && state !== "leaving",
	);
	return minNodes !== null && here.length < minNodes
		? `waiting for ${formatCount(minNodes, "node")}`
		: "waiting for the round";
}

/** What these workers count: the hook sees no other steps than those of the optimizer, one for several batches perhaps. */
export function stepNoun(sources: readonly StepSource[]): string {
	return sources.includes("hook") ? "optimizer step" : "step";
}

/** How late a step may be read and told of, in seconds. */
const TOLD_WITHIN_SECONDS = 3;

/**
 * "1234 (2.5/s)", or where steps come late "1234 (2.5/s), 30.0 s ago": the slowest of these workers; "-" if none has made a
 * step.
 */
export function stepsInWords(workers: readonly WorkerStatus[]): string {
	const [slowest] = living(workers).toSorted(
		(left, right) => left.step - right.step,
	);
	if (slowest === undefined) return "-";
	const { step, stepRate, secondsSinceStep } = slowest;
	const rate = stepRate === null ? "" : ` (${formatRate(stepRate)})`;
	const usual = stepRate ? 1 / stepRate : 0;
	const isLate = secondsSinceStep > TOLD_WITHIN_SECONDS + 2 * usual;
	const ago = formatDuration(secondsSinceStep * 1_000);
	return `${step}${rate}${isLate ? `, ${ago} ago` : ""}`;
}

/** "each step waits for rank 2 on node-b: 31 ms, 12.4 s in all". */
export function stragglerInWords({
	rank,
	node,
	lostSecondsPerStep,
	lostSeconds,
}: Straggler): string {
	const each = formatDuration(lostSecondsPerStep * 1_000);
	const all = formatDuration(lostSeconds * 1_000);
	return `each step waits for rank ${rank} on ${node}: ${each}, ${all} in all`;
}

/** "rank 0 saves a checkpoint since 40 s (and 3 more ranks)": a line for each thing that ranks do. */
export function busyInWords(
	busy: readonly BusyRank[],
	ago: (time: number) => string,
): readonly string[] {
	return [...new Set(busy.map(({ what }) => what))].map((what) => {
		const ranks = busy.filter((one) => one.what === what);
		const since = Math.min(...ranks.map((one) => one.since));
		const others = formatCount(ranks.length - 1, "more rank");
		const more = ranks.length === 1 ? "" : ` (and ${others})`;
		return `rank ${ranks[0]?.rank} ${what} since ${ago(since)}${more}`;
	});
}

/** "rank 2 on node-b: it has not entered gloo:all_reduce …, at train.py:41 in load_batch". */
export function hangInWords({ suspect, kind }: Hang): string {
	if (suspect === null) return "nothing points to one rank";
	const { rank, node, why, where } = suspect;
	const place = where === null ? "" : `, at ${where}`;
	const works = kind === "slow" ? " (it computes or reads)" : "";
	return `rank ${rank} on ${node}: ${why}${place}${works}`;
}

/** "waiting for 2 more nodes (at least 4): node-a, node-b are here; 590 s left". */
export function waitingInWords(
	waiting: Awaited & { readonly until: number | null },
	wallTime: number,
): string {
	const { until } = waiting;
	const left =
		until === null
			? ""
			: `; ${Math.max(0, Math.ceil((until - wallTime) / 1_000))} s left`;
	return `${whatIsAwaited(waiting)}${left}`;
}

function whatIsAwaited({
	kind,
	round,
	here,
	missing,
	needed,
	minNodes,
	maxNodes,
}: Awaited): string {
	switch (kind) {
		case "members":
			return `waiting for ${inWords(missing)}: ${areHere(here)}`;
		case "riders":
			return `waiting until ${inWords(missing)} cannot work on without the store any more (if you know that they are gone, start all nodes with --ride-out off)`;
		case "minimum": {
			const nodes = needed === 1 ? "node" : "nodes";
			const gone = missing.count === 0 ? "" : `; missing: ${inWords(missing)}`;
			// Enough nodes are here, and none of them has work left.
			const why =
				here.count >= minNodes
					? `, because the nodes that are here have finished: ${inWords(here)}`
					: ` (at least ${minNodes}): ${areHere(here)}`;
			return `waiting for ${needed} more ${nodes}${why}${gone}`;
		}
		case "last-call":
			return `last call (at most ${maxNodes} nodes): ${areHere(here)}`;
		case "newcomers":
			return `last call while round ${round - 1} runs: ${inWords(here)} would join`;
		case "delay":
			return "waiting before the restart, because the last ones failed before anything moved (--restart-delay)";
		case "end":
			return `waiting for the end of round ${round - 1}, which no node may join because one of its nodes has finished: ${areHere(here)}`;
		default:
			return kind satisfies never;
	}
}

function areHere(nodes: NodeList): string {
	if (nodes.count === 0) return "no node is here";
	return `${inWords(nodes)} ${nodes.count === 1 ? "is" : "are"} here`;
}

function inWords({ count, names }: NodeList): string {
	const others = count - names.length;
	return others === 0
		? names.join(", ")
		: `${names.join(", ")} and ${others} more`;
}

/** How the nodes of a round started their workers, in words; undefined without warm starts. */
export function wordsOfStarts(
	starts: readonly NodeStart[],
): string | undefined {
	if (starts.length === 0) return undefined;
	const warm = starts.reduce((sum, one) => sum + one.warm, 0);
	const all = starts.reduce((sum, one) => sum + one.cold, warm);
	const reason = starts.find((one) => one.reason !== null)?.reason ?? "";
	if (warm === 0) return `cold: ${reason}`;
	if (warm < all) return `${warm} of ${all} warm: ${reason}`;
	return withSaved("warm", savedBy(starts));
}

/** @param savedMs what that has saved; null or undefined if it is not known */
export function withSaved(words: string, savedMs: number | null | undefined) {
	const saved = savedMs ?? 0;
	return saved > 0 ? `${words}, saved ${formatDuration(saved)}` : words;
}

/** "hears 2 nodes; not heard: node-c (its link was closed); riding out since 40 s, 3 of 3 heard". */
export function linksInWords(
	{ heard, suspected, riding }: NodeLinks,
	wallTime: number,
): string {
	const missing = suspected.map(
		({ nodeId, why }) =>
			`${nodeId} (${why === "closed" ? "its link was closed" : "it says nothing"})`,
	);
	const since = formatDuration(Math.max(0, wallTime - (riding?.since ?? 0)));
	return [
		`hears ${formatCount(heard.length, "node")}`,
		...(missing.length === 0 ? [] : [`not heard: ${missing.join(", ")}`]),
		...(riding === null
			? []
			: [
					`riding out since ${since}, ${riding.heard} of ${riding.nodes} heard`,
				]),
	].join("; ");
}
