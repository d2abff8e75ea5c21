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

/** The first message, from the agent that was called. */
export const CHALLENGE = fields({
	kind: oneOf("challenge"),
	version: oneOf(LINK_VERSION),
	nonce: token,
});

/** The caller's answer. */
export type Hello = Infer<typeof HELLO>;

export const HELLO = fields({
	kind: oneOf("hello"),
	version: oneOf(LINK_VERSION),
	purpose: oneOf("agent", "guard"),
	nodeId: name,
	incarnation: token,
	/** Where the caller can be called itself. */
	link: optional(LINK_ADDRESS),
	nonce: token,
	proof: token,
});

/** The handshake succeeds: both belong to the run. */
export const WELCOME = fields({
	kind: oneOf("welcome"),
	proof: token,
});

/** The handshake fails, and why. */
export const REFUSED = fields({
	kind: oneOf("refused"),
	reason: words,
});

/**
 * What an agent and the head of its round say to each other, directly or by a speaker. `known`: the head knows the agent.
 * `ride`: what is said while the store is away. `write`, `written`: a record for the head to write, and what became of it.
 */
export type Said = Infer<typeof SAID>;

const said = {
	/** Of `known`: the plan for which the head knows the agent; absent: it has begun none yet. */
	plan: optional(token),
	/** Of `bye`: the agent leaves the run, and does not only hang up. */
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
 * What a speaker passes on. `opened`: an agent is linked with it, with the nonce that hides its secret, and the number of its
 * wish. `silent`: the agent says nothing, until it is `heard`, or `opened` again.
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

/** What is new in the records of the round and of its coordinator. */
export type RoundNews = Infer<typeof ROUND_NEWS>;

const ROUND_NEWS = fields({
	/** The store's revision when this was so, or a later one. */
	revision: count,
	/** Keys as they are now; none: something else has changed, which must be read from the store. */
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
 * Messages after the handshake. `ping`: a sign of life. `gone`: the guard has ended all that a dead agent had started. For
 * what agent and head say, see `Said`. Only in groups: `via` names the head that an agent wants to speak with, `passed` carries
 * what one of them says to the other, `news` what is new of the round.
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
	/** Of `gone`: known to the guard and the agent that it calls, and valid on this connection only. */
	proof: optional(token),
	/** The process of the head, and of the agent that speaks with it. */
	head: optional(token),
	agent: optional(token),
	/** Of `via`: counts the agent's wishes, so that the newest one is known. */
	number: optional(count),
	passed: optional(PASSED),
	/** Of `news`: see `sealed`; null: there will be no more. */
	news: optional(nullable(words)),
});

/** Carries messages to one other agent. */
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

/** Proves that its writer knows the secret and these words of this connection. */
export function proofOf(secret: string, ...said: readonly string[]): string {
	return createHmac("sha256", secret).update(said.join("\n")).digest("hex");
}

/** Encrypts the secret of a caller with a pad that is used once. A second call decrypts it. */
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

/** Encrypts news of the round, which contain a secret, with a key made of another one. */
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
