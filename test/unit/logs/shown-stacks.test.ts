import { describe, expect, it } from "vitest";
import {
	endBeforeOpenStack,
	ShownStacks,
} from "../../../src/logs/shown-stacks.js";

const PYTHON = `Traceback (most recent call last):
  File "/w/train.py", line 7, in <module>
    load(3)
  File "/w/train.py", line 3, in load
    raise ValueError(n)
ValueError: bad batch 1
`;
const NODE = `/w/train.mjs:1
function load() { throw new Error("x"); }
                        ^

Error: x
    at load (file:///w/train.mjs:1:25)
    at file:///w/train.mjs:2:1

Node.js v22
`;
const OWNER = "rank 0, round 1";
const ABOVE = `  … same as above (${OWNER})`;

function second(text: string, first = text): string {
	const stacks = new ShownStacks();
	expect(stacks.shorten(Buffer.from(first), OWNER).toString()).toBe(first);
	return stacks.shorten(Buffer.from(text), "rank 1, round 1").toString();
}

// C5
describe("a stack that was shown before", () => {
	it.each([
		[
			"Python",
			`one\n${PYTHON}two\n`,
			`one\nTraceback (most recent call last):\n${ABOVE}\nValueError: bad batch 1\ntwo\n`,
		],
		["Node", NODE, NODE.replace(/ {4}at .*:2:1/s, ABOVE)],
		[
			"Python, twice at once",
			PYTHON + PYTHON,
			`Traceback (most recent call last):\n${ABOVE}\nValueError: bad batch 1\n`.repeat(
				2,
			),
		],
	])("of %s is named, its error stays", (_, text, shown) => {
		expect(second(text, text.startsWith(PYTHON) ? PYTHON : text)).toBe(shown);
	});

	it("counts as the same whatever rank torch puts before its lines", () => {
		const of = (rank: number) => PYTHON.replace(/^(?=.)/gm, `[rank${rank}]: `);
		expect(second(of(1), of(0))).toContain(ABOVE);
	});

	it("is another one at another line", () => {
		const other = PYTHON.replace("line 3", "line 4");
		expect(second(other, PYTHON)).toBe(other);
	});

	it.each([
		["indented text", "{\n  a: 1\n}\n"],
		["a very long stack", PYTHON.replace("load(3)", "x".repeat(40_000))],
	])("is not %s", (_, text) => {
		expect(second(text)).toBe(text);
	});
});

it("an open stack waits for its end", () => {
	const [whole, half] = [`one\n${PYTHON}`, PYTHON.slice(0, 90)];
	const cut = half.lastIndexOf("\n") + 1;
	expect(endBeforeOpenStack(Buffer.from(whole))).toBe(whole.length);
	expect(endBeforeOpenStack(Buffer.from(half.slice(0, cut)))).toBe(
		PYTHON.indexOf("  File"),
	);
});
