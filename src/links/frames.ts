import { messageOf } from "../base/errors.js";

/** No message of a link is longer, in bytes. */
const LONGEST = 65_536;
const LENGTH = /^\d{1,5}$/;
const NEWLINE = 0x0a;
const MOST_DIGITS = 5;

/** A message on a link: the length of its JSON in bytes, a line break, the JSON. A shell can write it too. */
export function frame(message: unknown): string {
	const json = JSON.stringify(message);
	return `${Buffer.byteLength(json)}\n${json}`;
}

/** Takes the bytes of a connection and gives whole messages. */
export class FrameReader {
	private rest: Buffer = Buffer.alloc(0);

	/**
	 * The values that these bytes complete, unchecked.
	 * @throws Error if they are no frame; nothing that follows can be read
	 */
	push(bytes: Buffer): readonly unknown[] {
		this.rest = Buffer.concat([this.rest, bytes]);
		const values: unknown[] = [];
		for (;;) {
			const head = this.rest.indexOf(NEWLINE);
			if (head === -1 && this.rest.length <= MOST_DIGITS) return values;
			const digits = this.rest.toString("latin1", 0, Math.max(head, 0));
			const length = LENGTH.test(digits) ? Number(digits) : LONGEST + 1;
			if (length > LONGEST) throw new Error("what it sends is no message");
			const from = head + 1;
			if (this.rest.length < from + length) return values;
			values.push(parse(this.rest.toString("utf8", from, from + length)));
			this.rest = this.rest.subarray(from + length);
		}
	}
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch (error) {
		throw new Error(`what it sends is no JSON: ${messageOf(error)}`);
	}
}
