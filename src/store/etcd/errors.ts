/** How a gRPC call ended. */
export interface Status {
	readonly code: number;
	readonly details: string;
}

/** The gRPC codes that matter here. */
export const CODE = {
	ok: 0,
	cancelled: 1,
	invalidArgument: 3,
	deadlineExceeded: 4,
	permissionDenied: 7,
	outOfRange: 11,
	unimplemented: 12,
	internal: 13,
	unavailable: 14,
	unauthenticated: 16,
} as const;

/** How the details begin after a time-out. */
export const NO_ANSWER = "no answer";

/** The rejection of a call to etcd. */
export class StatusError extends Error {
	constructor(readonly status: Status) {
		super(`${status.code} ${status.details}`);
	}
}

/** What a failed call means for its caller. */
type FailureKind =
	/** There was no connection: nothing was sent. */
	| "unconnected"
	/** It was sent, and the connection broke or was given up. */
	| "broken"
	/** It was sent, or was to be, and no answer came in time. */
	| "silent"
	/** This server has no leader, and has done nothing. */
	| "leaderless"
	/** This server cannot do it, or cannot say whether it was done; another may. */
	| "busy"
	/** The token is unknown or too old, and nothing was done. */
	| "token"
	/** The lease that it names has ended. */
	| "lease"
	/** etcd refuses to do it for this client. */
	| "refused";

export interface Failure {
	readonly kind: FailureKind;
	/** The reason, and what helps. */
	readonly words: string;
	/** Whether waiting cannot mend it. */
	readonly isHopeless: boolean;
}

/** The messages of the TLS libraries, and their meaning here. */
const TLS_PROBLEMS: readonly (readonly [text: RegExp, words: string])[] = [
	[
		/verify the first certificate|self.signed certificate|local issuer certificate|issuer certificate/i,
		"its certificate is not signed by an authority that is trusted here: name it with cacert=FILE",
	],
	[/certificate has expired/i, "its certificate has expired"],
	[
		/does not match certificate's altnames/i,
		"its certificate is for another name or address than this endpoint's",
	],
	[
		/alert bad certificate|alert certificate required|alert number (42|116)\b/i,
		"it asks for a client certificate that it trusts: name one with cert=FILE and key=FILE",
	],
	[
		/alert certificate (revoked|expired)|alert number 4[45]\b/i,
		"the client certificate of cert=FILE has expired or was revoked: renew cert=FILE and key=FILE, which are read again at each connection",
	],
	[
		/alert unknown ca|alert number 48\b/i,
		"it does not trust the authority that signed the client certificate of cert=FILE",
	],
	[
		/wrong version number|packet length too long/i,
		"it does not speak TLS: name the endpoint without https://, and without cacert, cert and key",
	],
];

/** The meaning of a status. It looks for texts of etcd 3.4 to 3.6, gRPC, and Node. */
export function failureOf({ code, details }: Status): Failure {
	if (code === CODE.ok) return soft("broken", "it ended the stream");
	if (code === CODE.cancelled) return soft("broken", details);
	if (code === CODE.deadlineExceeded) {
		return soft(
			"silent",
			details.startsWith(NO_ANSWER) ? details : `${NO_ANSWER} in time`,
		);
	}
	return (
		withoutConnection(details) ??
		ofAuthentication(code, details) ??
		(details.includes("requested lease not found")
			? soft("lease", "the lease has ended")
			: ofServer(code, details))
	);
}

function withoutConnection(details: string): Failure | undefined {
	if (details.startsWith("Name resolution failed")) {
		return soft("unconnected", "its name cannot be resolved");
	}
	const text = /^No connection established\. Last error: (.*)$/s.exec(
		details,
	)?.[1];
	if (text === undefined) return undefined;
	const tls = TLS_PROBLEMS.find(([pattern]) => pattern.test(text));
	if (tls !== undefined) return hopeless("unconnected", tls[1]);
	return soft("unconnected", connectingWords(text));
}

function connectingWords(text: string): string {
	if (text.includes("ECONNREFUSED")) {
		return "connection refused: does etcd run there, and listen on this address?";
	}
	if (
		/Failed to connect|ECONNRESET|before secure TLS|Socket closed/.test(text)
	) {
		return "it closed the connection at once: is it etcd, with TLS (https://) where this endpoint says so and without it where not, and has it not revoked the certificate of cert=FILE?";
	}
	if (text.startsWith("Protocol error")) {
		return "what answers there does not speak gRPC: is this etcd's port for clients?";
	}
	const words = text
		.replace(/\. Resolution note: .*$/s, "")
		.replace(/ \(\d{4}-\d\d-\d\dT[^)]*\)$/, "")
		.replace(/^Error: /, "");
	return `cannot connect: ${words.trim()}`;
}

function ofAuthentication(code: number, details: string): Failure | undefined {
	if (details.includes("authentication failed")) {
		return hopeless(
			"refused",
			"wrong user name or password: see username and password_file, which is read again at each login",
		);
	}
	if (details.includes("user name is empty")) {
		return hopeless(
			"token",
			"it asks for a user name and a password: see username and password_file",
		);
	}
	if (details.includes("permission denied") || code === CODE.permissionDenied) {
		return hopeless(
			"refused",
			"this user may not read and write these keys: those of a run lie below /elastic-run/<run id>/, those of all runs below /elastic-run/",
		);
	}
	const isOfToken =
		code === CODE.unauthenticated ||
		/invalid auth token|revision of auth store is old|revision in header is old/.test(
			details,
		);
	return isOfToken
		? soft("token", "it does not know our token: did it restart?")
		: undefined;
}

function ofServer(code: number, details: string): Failure {
	const words = details.replace(/^etcdserver: /, "it says: ");
	if (/etcdserver: (no leader|not capable)/.test(details)) {
		return soft("leaderless", "its cluster has no leader at present");
	}
	if (words !== details && code === CODE.invalidArgument) {
		return hopeless("refused", words);
	}
	if (words !== details) {
		return soft(code === CODE.unavailable ? "busy" : "refused", words);
	}
	if (code === CODE.unimplemented) {
		return hopeless("refused", `what answers there is not etcd v3: ${details}`);
	}
	return soft("broken", `the connection broke: ${details}`);
}

function soft(kind: FailureKind, words: string): Failure {
	return { kind, words, isHopeless: false };
}

function hopeless(kind: FailureKind, words: string): Failure {
	return { kind, words, isHopeless: true };
}
