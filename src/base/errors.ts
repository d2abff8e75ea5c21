/** The exit codes of an agent, documented in docs/exit-codes.md. */
export const EXIT_CODES = {
	succeeded: 0,
	failed: 1,
	usage: 2,
	rendezvous: 3,
	storeUnreachable: 4,
	stopped: 5,
	internal: 70,
	replaceNode: 75,
	restart: 76,
	notExecutable: 126,
	notFound: 127,
} as const;

/** The kinds of errors that elastic-run raises, each with its exit code. */
const EXIT_CODE_OF = {
	USAGE: EXIT_CODES.usage,
	COMMAND_NOT_EXECUTABLE: EXIT_CODES.notExecutable,
	COMMAND_NOT_FOUND: EXIT_CODES.notFound,
	RENDEZVOUS_FAILED: EXIT_CODES.rendezvous,
	STORE_UNREACHABLE: EXIT_CODES.storeUnreachable,
	POLICY_ILLEGAL: EXIT_CODES.usage,
	NOT_LAUNCHED: EXIT_CODES.usage,
	CHANNEL: EXIT_CODES.failed,
	CHECKPOINT: EXIT_CODES.failed,
	ABORTED: EXIT_CODES.failed,
	TIMEOUT: EXIT_CODES.failed,
	INTERNAL: EXIT_CODES.internal,
} as const;

export type ElasticRunErrorCode = keyof typeof EXIT_CODE_OF;

/**
 * The only error class of this project. `code` names the kind. `message` tells the user what was wrong, where, and how to
 * fix it.
 */
export class ElasticRunError extends Error {
	override readonly name: string = "ElasticRunError";
	readonly code: ElasticRunErrorCode;
	/** The exit code of an agent that ends because of this error. */
	readonly exitCode: number;

	constructor(
		code: ElasticRunErrorCode,
		message: string,
		options?: { cause?: unknown },
	) {
		super(message, options);
		this.code = code;
		this.exitCode = EXIT_CODE_OF[code];
	}
}

/** The `code` of a system error (`ENOENT`, …), or undefined for any other value. */
export function systemErrorCode(error: unknown): string | undefined {
	if (!(error instanceof Error) || !("code" in error)) return undefined;
	return typeof error.code === "string" ? error.code : undefined;
}

/** What a node may lack for a moment. Another node may have it. */
const SHORTAGES: ReadonlySet<string> = new Set([
	"EAGAIN",
	"ENOMEM",
	"EMFILE",
	"ENFILE",
	"ENOSPC",
	"EDQUOT",
]);

export function isShortage(code: string): boolean {
	return SHORTAGES.has(code);
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

/** A message with an addition; after a question the addition is a separate sentence. */
export function addWords(message: string, words: string): string {
	return message.endsWith("?")
		? `${message} ${words.charAt(0).toUpperCase()}${words.slice(1)}`
		: `${message}; ${words}`;
}
