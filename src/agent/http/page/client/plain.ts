const ESCAPE = "\u001b";
const BELL = "\u0007";
/** `[` opens a sequence that ends with a letter. */
const PARAMETERS = /^\[[0-?]*[ -/]*[@-~]?/;
/** Titles, links, pictures: they end with BEL, with the next ESC, or with the line. */
const STRING = /^[\]PX^_]/;
const SHORT = /^[ -/]*[0-~]?/;
/** Control characters but tabs, and those that turn the direction of text. */
const UNSEEN = /[^\P{Cc}\t]|[\u202a-\u202e\u2066-\u2069]/gu;

/** A line as a worker or a peer wrote it, without what is for terminals. */
export function plain(line: string): string {
	const [first = "", ...others] = line.split(ESCAPE);
	const text = others.map(withoutSequence).join("");
	return `${first}${text}`.replace(UNSEEN, "");
}

/** What stood behind an ESC. */
function withoutSequence(text: string): string {
	if (PARAMETERS.test(text)) return text.replace(PARAMETERS, "");
	if (!STRING.test(text)) return text.replace(SHORT, "");
	const end = text.indexOf(BELL);
	return end < 0 ? "" : text.slice(end + 1);
}
