import { fields, list } from "../../base/shape.js";
import { name, time, version, words } from "./record-parts.js";

/** The prefix of what is remembered of nodes across runs. */
export const REMEMBERED_NODES = "/elastic-run-nodes/";
const WEEK_MS = 7 * 24 * 3_600_000;
/** So often replaced within a week, a node takes a seat only where no other one can. */
const DISTRUSTED_FROM = 2;
const MOST_KEPT = 20;

export interface Replacement {
	readonly runId: string;
	/** Milliseconds since 1970. */
	readonly at: number;
	readonly reason: string;
}

/** `/elastic-run-nodes/<nodeId>`: when and why runs have replaced this node, oldest first. */
export interface RememberedNode {
	readonly version: 1;
	readonly replacements: readonly Replacement[];
}

export const REMEMBERED = fields<RememberedNode>({
	version,
	replacements: list(
		fields<Replacement>({ runId: name, at: time, reason: words }),
	),
});

export function rememberedKey(nodeId: string): string {
	return REMEMBERED_NODES + nodeId;
}

/** The record with one more replacement. What is older than a week is forgotten. */
export function withReplacement(
	known: RememberedNode | undefined,
	replacement: Replacement,
): RememberedNode {
	const recent = recentOf(known, replacement.at);
	const replacements = [...recent, replacement].slice(-MOST_KEPT);
	return { version: 1, replacements };
}

/** @param wallTime milliseconds since 1970 */
export function isDistrusted(
	known: RememberedNode | undefined,
	wallTime: number,
): boolean {
	return recentOf(known, wallTime).length >= DISTRUSTED_FROM;
}

function recentOf(
	known: RememberedNode | undefined,
	wallTime: number,
): readonly Replacement[] {
	return (known?.replacements ?? []).filter(
		({ at }) => wallTime - at < WEEK_MS,
	);
}
