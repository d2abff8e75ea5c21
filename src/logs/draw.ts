import { formatCount } from "../base/units.js";

/** The terminal's size, in characters. */
export interface ScreenSize {
	readonly rows: number;
	readonly columns: number;
}

const CLEAR_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";
/** The terminal truncates long lines itself, by its own measure of width. */
const WRAP_OFF = "\x1b[?7l";
const WRAP_ON = "\x1b[?7h";

/** The lines that fit above a screen's last line. If there are more: the first ones, and how many there are. */
export function fitLines(
	lines: readonly string[],
	{ rows }: Pick<ScreenSize, "rows">,
): readonly string[] {
	const room = Math.max(1, rows - 1);
	if (lines.length <= room) return lines;
	const shown = lines.slice(0, room - 1);
	return [
		...shown,
		`… ${formatCount(lines.length - shown.length, "more line")}`,
	];
}

/** The output that replaces the lines drawn last by these; the cursor is below them. */
export function redrawn(lines: readonly string[], drawnBefore: number): string {
	const text = lines.map((line) => `${line}${CLEAR_LINE}\r\n`).join("");
	return `${WRAP_OFF}${upBy(drawnBefore)}${text}${CLEAR_BELOW}${WRAP_ON}`;
}

/** The output that erases this many lines above the cursor. */
export function erased(drawn: number): string {
	return drawn === 0 ? "" : `${upBy(drawn)}${CLEAR_BELOW}`;
}

function upBy(lines: number): string {
	return lines === 0 ? "\r" : `\r\x1b[${lines}A`;
}

/** Whether lines can be redrawn on this stream. */
export function isScreen(
	stream: { readonly isTTY?: boolean },
	{ TERM }: Readonly<Record<string, string | undefined>>,
): boolean {
	return stream.isTTY === true && TERM !== "dumb" && TERM !== "";
}
