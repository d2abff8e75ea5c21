import { randomBytes } from "node:crypto";
import type { Clock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import { isObject } from "../base/shape.js";
import type { LinkedAgent as Agent, LinkAddress } from "../model/index.js";
import type { Connection } from "./connection.js";
import {
	CHALLENGE,
	decode,
	HELLO,
	type Hello,
	isSameProof,
	LINK_VERSION,
	type LinkPurpose,
	proofOf,
	REFUSED,
	WELCOME,
	withSecretHidden,
} from "./messages.js";

/** A handshake takes at most so long, in milliseconds. */
const WITHIN_MS = 5_000;
/** So says another process that listens at the address by now, as the next one of that node. */
export const NOT_OF_THIS_RUN = "it does not know this run's secret";

/** What only the two ends of a connection know after the handshake. */
interface Shared {
	/** Proves the word of the caller's guard. */
	readonly lastProof: string;
}

/** Lets a caller in that knows this agent's secret, and calls `onHello` with who it is. Tells others why it does not. */
export function answer(
	connection: Connection,
	clock: Clock,
	secret: string,
	onHello: (hello: Hello, shared: Shared) => void,
): void {
	const nonce = newNonce();
	const cancel = bound(connection, clock);
	connection.read((value) => {
		let hello: Hello;
		try {
			hello = helloIn(value, secret, nonce);
		} catch (error) {
			connection.send({ kind: "refused", reason: messageOf(error) });
			throw error;
		}
		cancel();
		const about = [hello.nonce, nonce];
		connection.send({
			kind: "welcome",
			proof: proofOf(secret, "welcome", ...about),
		});
		const link = withSecretHidden(hello.link, secret, nonce, hello.nonce);
		const lastProof = proofOf(secret, "gone", ...about);
		onHello({ ...hello, link }, { lastProof });
	});
	connection.send({ kind: "challenge", version: LINK_VERSION, nonce });
}

/** Introduces this agent to one whose address it has read in the store, and calls `onWelcome` once both know each other. */
export function introduce(
	connection: Connection,
	clock: Clock,
	{ secret }: LinkAddress,
	{ nodeId, incarnation, link: own }: Agent,
	purpose: LinkPurpose,
	onWelcome: (shared: Shared) => void,
): void {
	const nonce = newNonce();
	const cancel = bound(connection, clock);
	connection.read((value) => {
		const { nonce: theirs } = decode(CHALLENGE, value);
		const link = withSecretHidden(own, secret, theirs, nonce);
		const hello = { purpose, nodeId, incarnation, link, nonce };
		connection.read((answered) => {
			if (isObject(answered) && answered.kind === "refused") {
				throw new Error(`it refuses: ${decode(REFUSED, answered).reason}`);
			}
			const { proof } = decode(WELCOME, answered);
			if (!isSameProof(proof, proofOf(secret, "welcome", nonce, theirs))) {
				throw new Error(NOT_OF_THIS_RUN);
			}
			cancel();
			onWelcome({ lastProof: proofOf(secret, "gone", nonce, theirs) });
		});
		connection.send({
			...{ kind: "hello", version: LINK_VERSION, ...hello },
			proof: helloProof(secret, theirs, hello),
		});
	});
}

function helloIn(value: unknown, secret: string, nonce: string): Hello {
	const hello = decode(HELLO, value);
	if (isSameProof(hello.proof, helloProof(secret, nonce, hello))) return hello;
	throw new Error(NOT_OF_THIS_RUN);
}

function helloProof(
	secret: string,
	challenge: string,
	hello: Omit<Hello, "kind" | "version" | "proof">,
): string {
	const { purpose, nodeId, incarnation, link, nonce } = hello;
	const who = [purpose, nodeId, incarnation, nonce];
	const where = [link?.address ?? "", `${link?.port}`, link?.secret ?? ""];
	return proofOf(secret, "hello", challenge, ...who, ...where);
}

function newNonce(): string {
	return randomBytes(16).toString("hex");
}

/** A handshake that takes too long ends the connection. */
function bound(connection: Connection, clock: Clock): () => void {
	const cancel = clock.wakeAt(clock.now() + WITHIN_MS, () =>
		connection.close(`no answer within ${WITHIN_MS / 1_000} s`),
	);
	connection.socket.once("close", cancel);
	return cancel;
}
