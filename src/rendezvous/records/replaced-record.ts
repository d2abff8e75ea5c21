import { fields, optional } from "../../base/shape.js";
import { name, time, token, version, words } from "./record-parts.js";

/** `replaced/<nodeId>`: this node is to be replaced. It is refused under its name until it is readmitted. */
export interface ReplacedRecord {
	readonly version: 1;
	readonly nodeId: string;
	/** Of the process that had to go. */
	readonly incarnation: string;
	readonly hostId: string;
	readonly address: string;
	readonly role: string;
	/** Why, in words. */
	readonly reason: string;
	/** When, in milliseconds since 1970. */
	readonly at: number;
	/** The node that has taken its place; since then its budget is as new. */
	readonly replacement?: string | undefined;
	/** The coordinator that takes care of it, alone: it remembers the node and runs the user's command. */
	readonly caredForBy?: string | undefined;
	/** How the user's command ended, in words; absent if there is none, or it has not ended. */
	readonly commandEnd?: string | undefined;
}

export const REPLACED = fields<ReplacedRecord>({
	version,
	nodeId: name,
	incarnation: token,
	hostId: token,
	address: token,
	role: token,
	reason: words,
	at: time,
	replacement: optional(name),
	caredForBy: optional(name),
	commandEnd: optional(words),
});
