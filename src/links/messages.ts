import {
	createCipheriv,
	createDecipheriv,
	createHmac,
	randomBytes,
	timingSafeEqual,
} from "node:crypto";
import {
	fields,
	flag,
	type Infer,
	list,
	nullable,
	oneOf,
	optional,
	type Shape,
	type Verdict,
} from "../base/shape.js";
import {
	count,
	duration,
	LINK_ADDRESS,
	LINKED_AGENT,
	type LinkAddress,
	name,
	RECORD_WRITE,
	RECORD_WRITTEN,
	RIDE_MESSAGE,
	token,
	words,
} from "../model/index.js";

/** Both ends must speak this version. */
export const LINK_VERSION = 3;

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
 * What an agent and the head of its round say to each other, directly or by the agent's speaker: the agent leaves in order;
 * the head knows the agent; what is said while the store is away; a record that the head is to write, and what became of it.
 */
export type Said = Infer<typeof SAID>;

const said = {
	/** Of `known`: the plan of the round as whose agent the head knows it; absent: of none yet. */
	plan: optional(token),
	/** Of `bye`: the agent leaves the run, not only the other end. */
	leaves: optional(flag),
	ride: optional(RIDE_MESSAGE),
	write: optional(RECORD_WRITE),
	written: optional(RECORD_WRITTEN),
};

const SAID = fields({
	kind: oneOf("bye", "known", "ride", "write", "written"),
	...said,
});

/**
 * What a speaker passes on. `opened`: of an agent that is linked with it now, with the nonce that hides its secret, and the
 * number of its wish. `silent`: of one that says nothing, until it is `heard`, or `opened` again.
 */
export type Passed = Infer<typeof PASSED>;

const PASSED = fields({
	kind: oneOf(
		"opened",
		"closed",
		"silent",
		"heard",
		"gone",
		"bye",
		"known",
		"ride",
		"write",
		"written",
	),
	...said,
	opened: optional(LINKED_AGENT),
	nonce: optional(token),
	number: optional(count),
});

/** What is new of the record of the round, and of who coordinates. */
export type RoundNews = Infer<typeof ROUND_NEWS>;

const ROUND_NEWS = fields({
	/** It is no older than this revision of the store. */
	revision: count,
	/** Keys as they are now; none: only the store tells. */
	entries: list(
		fields({
			key: token,
			value: words,
			createRevision: count,
			modRevision: count,
			lease: nullable(token),
		}),
	),
});

/**
 * Later messages: a sign of life; the guard has ended all that a dead agent had started; what agent and head say.
 * For a group also: which head the agent wants to speak with, what one of them says to the other, and what is new of the
 * round.
 */
export type LinkMessage = Infer<typeof LINK_MESSAGE>;

export const LINK_MESSAGE = fields({
	kind: oneOf(
		"ping",
		"bye",
		"gone",
		"known",
		"ride",
		"write",
		"written",
		"via",
		"passed",
		"news",
	),
	...said,
	/** Of a sign of life that is to be answered: when the next one comes, in milliseconds. */
	everyMs: optional(duration),
	/** Of a guard's word: only its agent could give it, and for this connection only. */
	proof: optional(token),
	/** The process of the head, and of the agent that speaks with it. */
	head: optional(token),
	agent: optional(token),
	/** Of `via`: numbers what one agent wants. */
	number: optional(count),
	passed: optional(PASSED),
	/** Of `news`: see `sealed`; null: there will be none. */
	news: optional(nullable(words)),
});

/** What carries messages to one other agent. */
export interface Line {
	send(message: LinkMessage): void;
	close(why?: string): void;
}

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

/** A caller's own secret goes by the connection, but not for others to read. The same again shows it. Each pad is used once. */
export function withSecretHidden(
	link: LinkAddress | undefined,
	secret: string,
	...nonces: readonly string[]
): LinkAddress | undefined {
	if (link === undefined) return undefined;
	const pad = Buffer.from(proofOf(secret, "hide", ...nonces), "hex");
	const bytes = Buffer.from(link.secret, "hex");
	const mixed = bytes.map((byte, at) => byte ^ (pad[at] ?? 0));
	return { ...link, secret: Buffer.from(mixed).toString("hex") };
}

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** News of the round, which has a secret in it: only who knows this one can read it. */
export function sealed(news: RoundNews, secret: string): string {
	const iv = randomBytes(IV_BYTES);
	const cipher = createCipheriv(CIPHER, newsKey(secret), iv);
	const text = [cipher.update(JSON.stringify(news), "utf8"), cipher.final()];
	return Buffer.concat([iv, cipher.getAuthTag(), ...text]).toString("base64");
}

/** @throws Error if it was sealed with another secret, or is no news */
export function unsealed(text: string, secret: string): RoundNews {
	const bytes = Buffer.from(text, "base64");
	const start = IV_BYTES + TAG_BYTES;
	const iv = bytes.subarray(0, IV_BYTES);
	const decipher = createDecipheriv(CIPHER, newsKey(secret), iv);
	decipher.setAuthTag(bytes.subarray(IV_BYTES, start));
	const opened = [decipher.update(bytes.subarray(start)), decipher.final()];
	return decode(ROUND_NEWS, JSON.parse(Buffer.concat(opened).toString()));
}

function newsKey(secret: string): Buffer {
	return createHmac("sha256", secret).update("news").digest();
}

export function isSameProof(one: string, other: string): boolean {
	const [left, right] = [Buffer.from(one), Buffer.from(other)];
	return left.length === right.length && timingSafeEqual(left, right);
}
