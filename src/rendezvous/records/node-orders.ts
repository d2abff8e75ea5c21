import { fields, optional } from "../../base/shape.js";
import { time, token, version, words } from "./record-parts.js";

/** `drains/<nodeId>`: a user asks this process of a node to leave. It ends when the key is deleted. */
export interface DrainRecord {
	readonly version: 1;
	/** Names the process that is meant: a later one of the node is not. */
	readonly incarnation: string;
	/** By whom, in words. */
	readonly reason: string;
	/** When the node must be gone, in milliseconds since 1970; absent: as soon as its workers may be ended. */
	readonly deadline?: number | undefined;
}

export const DRAIN = fields<DrainRecord>({
	version,
	incarnation: token,
	reason: words,
	deadline: optional(time),
});
