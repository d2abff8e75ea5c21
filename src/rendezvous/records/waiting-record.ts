import { fields, type Infer, list, nullable, oneOf } from "../../base/shape.js";
import {
	claim,
	count,
	instance,
	name,
	time,
	version,
} from "../../model/index.js";

export type NodeList = Infer<typeof nodeList>;

const nodeList = fields({
	count,
	/** The first few of them. */
	names: list(name),
});

const awaitedKind = oneOf(
	/** Members that hold their lease, or are expected back. */
	"members",
	/** The end of what members may work on without the store. */
	"riders",
	"minimum",
	/** Further nodes for the first round. */
	"last-call",
	/** Further nodes while a round runs. */
	"newcomers",
	/** The end of a round that admits no more nodes although there is room. */
	"end",
	/** The time before a restart, because nothing makes progress. */
	"delay",
);

export type AwaitedKind = Infer<typeof awaitedKind>;

/**
 * `waiting`: what the coordinator waits for, so that every agent and user can see it. Times are milliseconds since 1970
 * by its clock.
 */
export type WaitingRecord = Infer<typeof WAITING>;

/** What the planner waits for before the next round begins. */
export type Awaited = Omit<
	WaitingRecord,
	"version" | "instance" | "since" | "until"
>;

export const WAITING = fields({
	version,
	instance,
	/** The round that will begin. */
	round: claim,
	kind: awaitedKind,
	/** Nodes that are ready, in their order. */
	here: nodeList,
	/** Nodes that are known and not ready. */
	missing: nodeList,
	/** How many more nodes must come. */
	needed: count,
	minNodes: count,
	maxNodes: count,
	since: time,
	/** When the wait ends; null if it has no set end. */
	until: nullable(time),
});
