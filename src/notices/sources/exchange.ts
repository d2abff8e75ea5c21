/** A request to a metadata service. */
export interface Ask {
	readonly method: "GET" | "PUT" | "POST";
	readonly url: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body?: string | undefined;
	/** How long the whole exchange may take, in milliseconds. */
	readonly timeoutMs: number;
}

export interface Answer {
	readonly status: number;
	/** By their names in lower case. */
	readonly headers: Readonly<Record<string, string | undefined>>;
	readonly body: string;
}

/** The way to the metadata services. */
export interface Transport {
	/** Rejects with an Error that says in words why there was no answer. Redirects are answers; none is followed. */
	exchange(ask: Ask): Promise<Answer>;
	/** Ends all exchanges and connections. */
	close(): void;
}

/** How long an ordinary question may take, in milliseconds. */
export const ANSWER_WITHIN_MS = 2_000;

/** The answer is not one of this service: in words. */
export function odd({ url }: Ask, { status, headers }: Answer): Error {
	const where =
		status >= 300 && status < 400 && headers.location !== undefined
			? ", a redirect, which is not followed"
			: "";
	return new Error(`${url} answers with status ${status}${where}`);
}
