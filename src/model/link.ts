import {
	fields,
	flag,
	type Infer,
	list,
	nullable,
	oneOf,
	optional,
} from "../base/shape.js";
import { count, name, port, token, words } from "./value.js";

/** Where an agent listens for the run's other agents. */
export type LinkAddress = Infer<typeof LINK_ADDRESS>;

export const LINK_ADDRESS = fields({
	/** A host name or an IP address, without brackets. */
	address: token,
	port,
	/** Who knows it can read the run's records, and so belongs to the run. */
	secret: token,
});

/** One process of a node, and where it can be called. */
export type LinkedAgent = Infer<typeof LINKED_AGENT>;

export const LINKED_AGENT = fields({
	nodeId: name,
	incarnation: token,
	link: optional(LINK_ADDRESS),
});

/** What the agents of a round say to its head, and the head to them, about a store that is away: see ride.ts. */
export type RideMessage = Infer<typeof RIDE_MESSAGE>;

export const RIDE_MESSAGE = fields({
	kind: oneOf("poll", "away", "back", "ride", "over"),
	plan: token,
	/** Numbers the head's polls. */
	poll: count,
	/** Whether who says it has a seat in the round. */
	isMember: optional(flag),
});

/** An agent's own record, which it asks the head of its round to write. */
export type RecordWrite = Infer<typeof RECORD_WRITE>;

export const RECORD_WRITE = fields({
	/** Numbers what one agent asks for. */
	number: count,
	/** The revisions of `round` and of the record that it replaces. */
	round: count,
	present: count,
	lease: token,
	/** The record as JSON, without the secret of its links. */
	value: words,
});

/** What the head has made of it. */
export type RecordWritten = Infer<typeof RECORD_WRITTEN>;

export const RECORD_WRITTEN = fields({
	number: count,
	/** Null: it was not written, or the head does not know. */
	revision: nullable(count),
});

/** The other nodes, as one knows them by its links: who coordinates has one to each, others to the coordinator. */
export type NodeLinks = Infer<typeof NODE_LINKS>;

export const NODE_LINKS = fields({
	heard: list(name),
	/** Those that seem to be dead; their leases decide. */
	suspected: list(
		fields({
			nodeId: name,
			/** Its link was closed without a word, or it says nothing. */
			why: oneOf("closed", "silent"),
		}),
	),
	/** Null unless its round goes on without the store: since when, in milliseconds since 1970, and how many are heard. */
	riding: nullable(fields({ since: count, nodes: count, heard: count })),
});
