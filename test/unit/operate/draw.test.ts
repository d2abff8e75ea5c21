import { describe, expect, it } from "vitest";
import { erased, fitLines, isScreen, redrawn } from "../../../src/logs/draw.js";
import { screenAfter } from "../../helpers/terminal.js";

it.each([
	[["a", "b"], 3, ["a", "b"]],
	[["a", "b", "c"], 3, ["a", "… 2 more lines"]],
	[["a", "b"], 1, ["… 2 more lines"]],
])("of the lines %j a screen of %i rows has %j", (lines, rows, shown) => {
	expect(fitLines(lines, { rows })).toEqual(shown);
});

describe("what is drawn over", () => {
	it("has the new lines only, be they more or fewer", () => {
		const first = redrawn(["a", "b", "c"], 0);
		expect(screenAfter(first)).toEqual(["a", "b", "c"]);
		expect(screenAfter(first + redrawn(["x"], 3))).toEqual(["x"]);
		const more = redrawn(["x"], 3) + redrawn(["y", "z"], 1);
		expect(screenAfter(first + more)).toEqual(["y", "z"]);
	});

	it("can be taken away", () => {
		expect(screenAfter(redrawn(["a", "b"], 0) + erased(2))).toEqual([]);
		expect(erased(0)).toBe("");
	});

	it("leaves the terminal wrapping lines", () => {
		const { length } = redrawn(["a"], 0).split("\u001b[?7h");
		expect(length).toBe(2);
		expect(redrawn(["a"], 0).endsWith("\u001b[?7h")).toBe(true);
	});
});

it.each([
	[true, { TERM: "xterm" }, true],
	[true, {}, true],
	[true, { TERM: "dumb" }, false],
	[false, { TERM: "xterm" }, false],
	[undefined, {}, false],
])("a stream with isTTY %s and %j is a screen: %s", (isTTY, environment, screen) => {
	const stream = isTTY === undefined ? {} : { isTTY };
	expect(isScreen(stream, environment)).toBe(screen);
});
