export interface Answer {
	readonly status: number;
	readonly type: string;
	readonly body: string | Buffer;
	/** Added to the headers that every answer has. */
	readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The parts of a request that the answer depends on. */
export interface HttpRequest {
	readonly method: string;
	/** Without the query. */
	readonly path: string;
	readonly query: URLSearchParams;
	/** Undefined if it has none. */
	readonly host: string | undefined;
	readonly authorization: string | undefined;
	readonly cookie: string | undefined;
	/** Length of the body, in bytes; undefined if not given. */
	readonly length: number | undefined;
}

/** A text answer, with a newline at its end. */
export function words(
	status: number,
	text: string,
	headers?: Answer["headers"],
): Answer {
	return {
		status,
		type: "text/plain; charset=utf-8",
		body: `${text}\n`,
		headers,
	};
}

export function json(status: number, value: unknown): Answer {
	return {
		status,
		type: "application/json; charset=utf-8",
		body: `${JSON.stringify(value)}\n`,
	};
}

/**
 * Sent with every answer. They forbid caches, content from other origins and reading by them, and scripts that are not
 * files of this server.
 */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
	"Cache-Control": "no-store",
	"Content-Security-Policy":
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy": "no-referrer",
	"X-Content-Type-Options": "nosniff",
	"X-Frame-Options": "DENY",
};
