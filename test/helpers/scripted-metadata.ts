import type {
	HttpRequest,
	HttpResponse,
	Transport,
} from "../../src/notices/sources/http.js";

/** Answers a request; a text is the body of a good response. */
export type Script = (
	request: HttpRequest,
) => string | Partial<HttpResponse> | Promise<string | Partial<HttpResponse>>;

/** A transport that answers as a test wants, and keeps the requests. */
export class ScriptedTransport implements Transport {
	readonly requests: HttpRequest[] = [];
	isClosed = false;

	constructor(public script: Script) {}

	async fetch(request: HttpRequest): Promise<HttpResponse> {
		this.requests.push(request);
		const scripted = await this.script(request);
		const response =
			typeof scripted === "string" ? { body: scripted } : scripted;
		return { status: 200, headers: {}, body: "", ...response };
	}

	close(): void {
		this.isClosed = true;
	}

	/** How often a path was requested. */
	count(part: string): number {
		return this.requests.filter(({ url }) => url.includes(part)).length;
	}
}
