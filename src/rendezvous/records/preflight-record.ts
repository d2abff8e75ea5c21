import { fields, type Infer, list, oneOf } from "../../base/shape.js";
import { duration, name, time, version, words } from "../../model/index.js";

/** What a preflight says of its node. An older agent may have written `warned`. */
const VERDICTS = ["passed", "warned", "failed"] as const;

/** `preflights/<nodeId>`: how a node's preflight command ended before it joined; nobody acts on it. */
export type PreflightRecord = Infer<typeof PREFLIGHT>;

export const PREFLIGHT = fields({
	version,
	nodeId: name,
	verdict: oneOf(...VERDICTS),
	/** What is wrong, one line each. */
	findings: list(words),
	/** When it ended, in milliseconds since 1970 by the node's own clock. */
	at: time,
	tookMs: duration,
});
