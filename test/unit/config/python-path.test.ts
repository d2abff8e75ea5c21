import { isAbsolute } from "node:path";
import { expect, test } from "vitest";
import { isPython, pythonLibrary } from "../../../src/config/python-path.js";

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

test("the library lies in the package", () => {
	expect(isAbsolute(pythonLibrary())).toBe(true);
	expect(pythonLibrary()).toMatch(/\/dist\/python$/);
});
