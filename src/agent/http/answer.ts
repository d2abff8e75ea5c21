/** What a request is answered. */
export interface Answer {
	readonly status: number;
	/** Content-Type of the body. */
	readonly type: string;
	readonly body: string | Buffer;
	/** Beside those that every answer has. */
	readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** What a request says, as far as anything here depends on it. */
export interface Asked {
	readonly method: string;
	/** Without the query. */
	readonly path: string;
	readonly query: URLSearchParams;
	/** Undefined: it has none. */
	readonly host: string | undefined;
	readonly authorization: string | undefined;
	readonly cookie: string | undefined;
	/** Of the body, in bytes; undefined: it does not say. */
	readonly length: number | undefined;
}

/** An answer in words, with a newline at its end. */
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
 * On every answer. Nothing is kept by anybody, nothing of another origin is
 * loaded or may read it, and nothing runs that is not a file of this server.
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
