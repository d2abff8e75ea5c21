/** Of a terminal, in characters. */
export interface ScreenSize {
	readonly rows: number;
	readonly columns: number;
}

const CLEAR_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";
/** The terminal cuts what is too wide, whatever it takes for wide. */
const WRAP_OFF = "\x1b[?7l";
const WRAP_ON = "\x1b[?7h";

/** The lines that fit on a screen above its last one; of more the first, and how many there are. */
export function fitLines(
	lines: readonly string[],
	{ rows }: Pick<ScreenSize, "rows">,
): readonly string[] {
	const room = Math.max(1, rows - 1);
	if (lines.length <= room) return lines;
	const shown = lines.slice(0, room - 1);
	return [...shown, `… ${lines.length - shown.length} more lines`];
}

/** What puts these lines in the place of those that were drawn last, the cursor being below them. */
export function redrawn(lines: readonly string[], drawnBefore: number): string {
	const text = lines.map((line) => `${line}${CLEAR_LINE}\r\n`).join("");
	return `${WRAP_OFF}${upBy(drawnBefore)}${text}${CLEAR_BELOW}${WRAP_ON}`;
}

/** What takes away so many lines above the cursor. */
export function erased(drawn: number): string {
	return drawn === 0 ? "" : `${upBy(drawn)}${CLEAR_BELOW}`;
}

function upBy(lines: number): string {
	return lines === 0 ? "\r" : `\r\x1b[${lines}A`;
}

/** Whether lines can be drawn over on what this is. */
export function isScreen(
	stream: { readonly isTTY?: boolean },
	{ TERM }: Readonly<Record<string, string | undefined>>,
): boolean {
	return stream.isTTY === true && TERM !== "dumb" && TERM !== "";
}
