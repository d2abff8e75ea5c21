import { fields, list, oneOf } from "../../base/shape.js";
import { duration, name, time, version, words } from "./record-parts.js";

/** What a preflight says of its node. An older agent may have written `warned`. */
const VERDICTS = ["passed", "warned", "failed"] as const;

/** `preflights/<nodeId>`: how a node's preflight command ended before it joined; nobody acts on it. */
export interface PreflightRecord {
	readonly version: 1;
	readonly nodeId: string;
	readonly verdict: (typeof VERDICTS)[number];
	/** What is wrong, one line each. */
	readonly findings: readonly string[];
	/** When it ended, in milliseconds since 1970 by the node's own clock. */
	readonly at: number;
	readonly tookMs: number;
}

export const PREFLIGHT = fields<PreflightRecord>({
	version,
	nodeId: name,
	verdict: oneOf(...VERDICTS),
	findings: list(words),
	at: time,
	tookMs: duration,
});
