import type {
	Answer,
	Ask,
	Transport,
} from "../../src/notices/sources/exchange.js";

/** Answers a question; a text is the body of a good answer. */
export type Script = (
	ask: Ask,
) => string | Partial<Answer> | Promise<string | Partial<Answer>>;

/** A transport that answers as a test wants, and keeps what it was asked. */
export class ScriptedTransport implements Transport {
	readonly asked: Ask[] = [];
	isClosed = false;

	constructor(public script: Script) {}

	async exchange(ask: Ask): Promise<Answer> {
		this.asked.push(ask);
		const said = await this.script(ask);
		const answer = typeof said === "string" ? { body: said } : said;
		return { status: 200, headers: {}, body: "", ...answer };
	}

	close(): void {
		this.isClosed = true;
	}

	/** How often a path was asked for. */
	count(part: string): number {
		return this.asked.filter(({ url }) => url.includes(part)).length;
	}
}
