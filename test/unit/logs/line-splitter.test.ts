import { describe, expect, it } from "vitest";
import { type Eagerness, showableEnd } from "../../../src/logs/file-viewer.js";
import { LONGEST_SHOWN_LINE_BYTES as LIMIT } from "../../../src/logs/line-limits.js";

const x = (count: number) => "x".repeat(count);

describe("showableEnd", () => {
	it.each<[string, string, Eagerness, number]>([
		["nothing", "", "lines", 0],
		["an unfinished line waits", "abc", "lines", 0],
		["whole lines", "ab\ncd\nef", "lines", 6],
		["whole lines first, also at the end", "ab\ncd", "everything", 3],
		["the unfinished line at the end", "cd", "everything", 2],
		["an unfinished bar waits", "\r10%\r20%", "lines", 0],
		["a bar's newest whole state", "\r10%\r20%", "progress", 4],
		["a bar of one state", "\r10%", "progress", 0],
		["no bar at all", "abc", "progress", 0],
		["a long line by pieces", x(LIMIT + 10), "lines", LIMIT],
		["a long line at the end by pieces", x(LIMIT + 10), "everything", LIMIT],
		["between characters", `${x(LIMIT - 1)}äx`, "lines", LIMIT - 1],
		["before a sequence", `${x(LIMIT - 3)}\x1b[31mx`, "lines", LIMIT - 3],
		[
			"before one that ends at the cut",
			`${x(LIMIT - 5)}\x1b[31mx`,
			"lines",
			LIMIT - 5,
		],
		["after a sequence", `${x(LIMIT - 6)}\x1b[31mxx`, "lines", LIMIT],
		["between states of a bar", `${x(100)}\r${x(LIMIT)}`, "lines", 100],
		["a state that is too long", `\r${x(LIMIT)}`, "lines", LIMIT],
	])("%s", (_name, text, eagerness, end) => {
		const chunk = Buffer.from(text);
		expect(showableEnd(chunk, 0, chunk.length, eagerness)).toBe(end);
	});
});
