import { fields, flag, type Infer, optional } from "../../base/shape.js";
import { name, time, token, version, words } from "../../model/index.js";

/** `replaced/<nodeId>`: this node is to be replaced. It is refused under its name until it is readmitted. */
export type ReplacedRecord = Infer<typeof REPLACED>;

export const REPLACED = fields({
	version,
	nodeId: name,
	/** Of the process that had to go. */
	incarnation: token,
	hostId: token,
	address: token,
	role: token,
	/** Why, in words. */
	reason: words,
	/** When, in milliseconds since 1970. */
	at: time,
	/** The node that has taken its place; since then its budget is as new. */
	replacement: optional(name),
	/** The coordinator that takes care of it, alone: it runs the user's command. */
	caredForBy: optional(name),
	/** How the user's command ended, in words; absent if there is none, or it has not ended. */
	commandEnd: optional(words),
});

/**
 * `recreated/<nodeId>`: this member ended to be started again, and its successor takes its place. `left/<nodeId>`: it left in
 * order, and nobody waits for it.
 */
export const RECREATED = fields({
	version,
	/** Of the process that has ended. */
	incarnation: token,
	/** Its launcher was killed: its guard has said so. */
	died: optional(flag),
});

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
