const ESCAPE = "\u001b";
const BELL = "\u0007";
/** `[` opens a sequence that ends with a letter. */
const PARAMETERS = /^\[[0-?]*[ -/]*[@-~]?/;
/** Titles, links, pictures: they end with BEL, with the next ESC, or at the line's end. */
const STRING = /^[\]PX^_]/;
const SHORT = /^[ -/]*[0-~]?/;
/** Control characters except tabs, and characters that change the text direction. */
const UNSEEN = /[^\P{Cc}\t]|\p{Bidi_Control}/gu;

/** A worker's or peer's line without control sequences. */
export function plain(line: string): string {
	const [first = "", ...others] = line.split(ESCAPE);
	const text = others.map(withoutSequence).join("");
	return `${first}${text}`.replace(UNSEEN, "");
}

/** Removes the rest of a sequence after its ESC. */
function withoutSequence(text: string): string {
	if (PARAMETERS.test(text)) return text.replace(PARAMETERS, "");
	if (!STRING.test(text)) return text.replace(SHORT, "");
	const end = text.indexOf(BELL);
	return end < 0 ? "" : text.slice(end + 1);
}
