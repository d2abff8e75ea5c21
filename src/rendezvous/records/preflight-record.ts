import {
	amount,
	fields,
	list,
	nullable,
	oneOf,
	optional,
} from "../../base/shape.js";
import { duration, name, time, version, words } from "./record-parts.js";

/** What a preflight says of its node. */
export const PREFLIGHT_VERDICTS = ["passed", "warned", "failed"] as const;
export type PreflightVerdict = (typeof PREFLIGHT_VERDICTS)[number];

/** Speeds of a node: only nodes of one run are compared. */
export interface NodeSpeeds {
	/** Megabytes a second that one processor digests. */
	readonly processor: number;
	/** Megabytes a second that are copied in memory. */
	readonly memory: number;
	/** Megabytes a second that reach the disk of the logs; null: too slow to be measured, or it failed. */
	readonly disk: number | null;
}

/** `preflights/<nodeId>`: what a node found out about itself before it joined; nobody acts on it. */
export interface PreflightRecord {
	readonly version: 1;
	readonly nodeId: string;
	readonly verdict: PreflightVerdict;
	/** What is wrong, one line each. */
	readonly findings: readonly string[];
	/** When it ended, in milliseconds since 1970 by the node's own clock. */
	readonly at: number;
	readonly tookMs: number;
	/** Set if they were measured. */
	readonly speeds?: NodeSpeeds | undefined;
}

const speed = amount(0, Number.MAX_SAFE_INTEGER);

export const PREFLIGHT = fields<PreflightRecord>({
	version,
	nodeId: name,
	verdict: oneOf(...PREFLIGHT_VERDICTS),
	findings: list(words),
	at: time,
	tookMs: duration,
	speeds: optional(
		fields<NodeSpeeds>({
			processor: speed,
			memory: speed,
			disk: nullable(speed),
		}),
	),
});
