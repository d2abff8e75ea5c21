import { fields, type Infer, nullable, oneOf } from "../base/shape.js";
import { count, name, time, words } from "./value.js";

/** What a node has found out about a round that stands still. */
export const HANG_KINDS = ["hung", "slow", "stopped", "mismatch"] as const;
export type HangKind = (typeof HANG_KINDS)[number];

export type Suspect = Infer<typeof suspect>;

const suspect = fields({
	rank: count,
	node: name,
	/** In words: "it has not entered gloo:all_reduce …". */
	why: words,
	/** "train.py:41 in load_batch"; null if no stack is known. */
	where: nullable(words),
});

export type Hang = Infer<typeof hang>;

export const hang = fields({
	kind: oneOf(...HANG_KINDS),
	/** When the last step came, in milliseconds since 1970. */
	since: time,
	/** Null if nothing points to anybody. */
	suspect: nullable(suspect),
});
