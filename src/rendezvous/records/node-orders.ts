import { fields, type Infer, optional } from "../../base/shape.js";
import { time, token, version, words } from "../../model/value.js";

/** `drains/<nodeId>`: a user asks this process of a node to leave. It ends when the key is deleted. */
export type DrainRecord = Infer<typeof DRAIN>;

export const DRAIN = fields({
	version,
	/** Names the process that is meant: a later one of the node is not. */
	incarnation: token,
	/** By whom, in words. */
	reason: words,
	/** When the node must be gone, in milliseconds since 1970; absent: as soon as its workers may be ended. */
	deadline: optional(time),
});
