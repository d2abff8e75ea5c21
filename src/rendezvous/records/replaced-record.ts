import { fields, type Infer, optional } from "../../base/shape.js";
import { name, time, token, version, words } from "../../model/value.js";

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
export type RecreatedRecord = Infer<typeof RECREATED>;

export const RECREATED = fields({
	version,
	/** Of the process that has ended. */
	incarnation: token,
});
