import { LineRenderer } from "./line-renderer.js";

const NO_PREFIX = new Uint8Array(0);
/** Any control character but tabs and newlines. */
const CONTROL = /[^\P{Cc}\t\n]/u;

/** The lines of raw output as text for people: no control sequences, colours among them. */
export function plainLines(raw: Uint8Array): string[] {
	const renderer = new LineRenderer();
	const style = { prefix: NO_PREFIX, colours: false };
	let text = "";
	for (let at = 0; at < raw.length; ) {
		at = renderer.render(raw, at, raw.length, style);
		text += renderer.output().toString("utf8");
	}
	return text === "" ? [] : text.slice(0, -1).split("\n");
}

/** The same for a text that came from somewhere else: a worker, a peer. */
export function plainText(text: string): string {
	if (!CONTROL.test(text)) return text;
	return plainLines(Buffer.from(text)).join("\n");
}

/** The same on one line, for messages. */
export function plainMessage(text: string): string {
	return plainText(text).trimEnd().replaceAll("\n", " ");
}
