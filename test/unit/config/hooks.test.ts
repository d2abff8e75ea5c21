import { isAbsolute } from "node:path";
import { expect, test } from "vitest";
import {
	isPython,
	mayStartPython,
	pythonHook,
	pythonLibrary,
} from "../../../src/config/hooks.js";

test.each([
	["train.py", true],
	["./src/train.py", true],
	["python", true],
	["python3", true],
	["/usr/bin/python3.11", true],
	["python3.13t", true],
	["train.js", false],
	["python3-config", false],
	["python.sh", false],
	["my-python3", false],
	["sh", false],
	["", false],
])("%s is Python: %s", (script, expected) => {
	expect(isPython(script)).toBe(expected);
});

test.each([
	["train.py", true],
	["python3", true],
	["sh", true],
	["run.sh", true],
	["uv", true],
	["train.js", false],
	["src/train.mjs", false],
	["train.cjs", false],
	["train.ts", false],
	["node", false],
	["/usr/bin/node", false],
])("%s may start Python: %s", (script, expected) => {
	expect(mayStartPython(script)).toBe(expected);
});

test.each([
	[pythonLibrary, /\/dist\/python$/],
	[pythonHook, /\/dist\/python-hook$/],
])("library and hook lie in the package: %o", (place, expected) => {
	expect(isAbsolute(place())).toBe(true);
	expect(place()).toMatch(expected);
});
