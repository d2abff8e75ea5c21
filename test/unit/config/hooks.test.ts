import { expect, test } from "vitest";
import {
	isPython,
	mayStartPython,
} from "../../../src/config/resolve-command.js";

test.each([
	["./src/train.py", true, true],
	["/usr/bin/python3.11", true, true],
	["python3.13t", true, true],
	["python3-config", false, true],
	["my-python3", false, true],
	["run.sh", false, true],
	["uv", false, true],
	["src/train.mjs", false, false],
	["train.ts", false, false],
	["/usr/bin/node", false, false],
])("%s is Python: %s; may start Python: %s", (script, is, may) => {
	expect([isPython(script), mayStartPython(script)]).toEqual([is, may]);
});
