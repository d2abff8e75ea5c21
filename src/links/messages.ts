import { createHmac, timingSafeEqual } from "node:crypto";
import {
	fields,
	flag,
	type Infer,
	oneOf,
	optional,
	type Shape,
	type Verdict,
} from "../base/shape.js";
import {
	duration,
	LINK_ADDRESS,
	name,
	RECORD_WRITE,
	RECORD_WRITTEN,
	RIDE_MESSAGE,
	token,
	words,
} from "../model/index.js";

/** Both ends must speak this version. */
export const LINK_VERSION = 2;

/** What a connection is for: an agent's signs of life, or the one word of its guard. */
export type LinkPurpose = "agent" | "guard";

/** The first message of who was called. */
export const CHALLENGE = fields({
	kind: oneOf("challenge"),
	version: oneOf(LINK_VERSION),
	nonce: token,
});

/** The answer of who calls. */
export type Hello = Infer<typeof HELLO>;

export const HELLO = fields({
	kind: oneOf("hello"),
	version: oneOf(LINK_VERSION),
	purpose: oneOf("agent", "guard"),
	nodeId: name,
	incarnation: token,
	/** Where who calls can be called itself. */
	link: optional(LINK_ADDRESS),
	nonce: token,
	proof: token,
});

/** The end of a handshake: both belong to the run. */
export const WELCOME = fields({
	kind: oneOf("welcome"),
	proof: token,
});

/** It ends instead with why this caller is not heard. */
export const REFUSED = fields({
	kind: oneOf("refused"),
	reason: words,
});

/**
 * Later messages: a sign of life; the agent leaves in order; the guard has ended all that a dead agent had started; what is
 * said while the store is away; a record that the head is to write, and what became of it.
 */
export type LinkMessage = Infer<typeof LINK_MESSAGE>;

export const LINK_MESSAGE = fields({
	kind: oneOf("ping", "bye", "gone", "ride", "write", "written"),
	/** Of a sign of life that is to be answered: when the next one comes, in milliseconds. */
	everyMs: optional(duration),
	/** Of a sign of life: the plan of the round as whose agent the other end is known. */
	plan: optional(token),
	/** Of `bye`: the agent leaves the run, not only the other end. */
	leaves: optional(flag),
	ride: optional(RIDE_MESSAGE),
	write: optional(RECORD_WRITE),
	written: optional(RECORD_WRITTEN),
	/** Of a guard's word: only its agent could give it, and for this connection only. */
	proof: optional(token),
});

/** @throws Error which says what is wrong with it */
export function decode<T>(shape: Shape<T>, value: unknown): T {
	const verdict: Verdict = {};
	if (shape(value, verdict)) return value;
	const { path = "", allowed = "" } = verdict.misfit ?? {};
	throw new Error(`its ${path || "message"} must be ${allowed}`);
}

/** Shows that its writer knows the secret, and has these words of this connection. */
export function proofOf(secret: string, ...said: readonly string[]): string {
	return createHmac("sha256", secret).update(said.join("\n")).digest("hex");
}

/** Hides a secret on its way: links are not encrypted. The same again shows it. Each pad is used once. */
export function hidden(secret: string, pad: string): string {
	const key = Buffer.from(pad, "hex");
	const bytes = Buffer.from(secret, "hex");
	const mixed = bytes.map((byte, at) => byte ^ (key[at] ?? 0));
	return Buffer.from(mixed).toString("hex");
}

export function isSameProof(one: string, other: string): boolean {
	const [left, right] = [Buffer.from(one), Buffer.from(other)];
	return left.length === right.length && timingSafeEqual(left, right);
}
