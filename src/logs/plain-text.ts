import { LineRenderer } from "./line-renderer.js";

const NO_PREFIX = new Uint8Array(0);
/** Any control character except tab and newline, and any that changes the text direction. */
const CONTROL = /[^\P{Cc}\t\n]|\p{Bidi_Control}/u;

/** The lines of raw output as plain text: without control sequences, colours included. */
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

/** The same for a text from elsewhere: a worker, a peer. */
export function plainText(text: string): string {
	if (!CONTROL.test(text)) return text;
	return plainLines(Buffer.from(text)).join("\n");
}

/** The same on one line, for messages. */
export function plainMessage(text: string): string {
	return plainText(text).trimEnd().replaceAll("\n", " ");
}

/** A value as JSON on one line. Characters that a terminal would act on are escaped. */
export function plainJson(value: unknown): string {
	return escapeControls(JSON.stringify(value));
}

/** The same for a line of JSON. The values of its strings stay the same. */
export function escapeControls(json: string): string {
	return json.replace(
		/[\x7f-\x9f]|\p{Bidi_Control}/gu,
		(character) =>
			`\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
	);
}
