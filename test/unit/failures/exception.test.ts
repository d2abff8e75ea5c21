import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import {
	type RaisedException,
	raisedWords,
	readException,
	traceOf,
} from "../../../src/failures/exception.js";
import { traceWords } from "../../../src/failures/trace.js";

const folder = mkdtempSync(join(tmpdir(), "elastic-run-test-"));
afterAll(() => rmSync(folder, { recursive: true }));
const exception = join(folder, "exception.json");

const RAISED: RaisedException = {
	version: 1,
	kind: "python",
	pid: 4711,
	start_time: "123",
	thread: null,
	ends: true,
	type: "ValueError",
	message: "bad batch 12",
	stack: `  File "/opt/lib/python3.12/site-packages/torch/x.py", line 9, in call
  File "/job/train.py", line 51, in <module>
`,
};

describe("the file of an uncaught exception", () => {
	it.each([
		["absent", undefined, undefined],
		["whole", JSON.stringify({ ...RAISED, more: 1 }), { ...RAISED, more: 1 }],
		["half", '{"version":1', undefined],
		["without a pid", JSON.stringify({ ...RAISED, pid: "x" }), undefined],
		["too large", `${JSON.stringify(RAISED)}${" ".repeat(300_000)}`, undefined],
	])("%s", (_, text, expected) => {
		rmSync(exception, { force: true });
		if (text !== undefined) writeFileSync(exception, text);
		expect(readException({ exception })).toEqual(expected);
	});

	it("is not waited for where it is a device", () => {
		rmSync(exception, { force: true });
		symlinkSync("/dev/zero", exception);
		expect(readException({ exception })).toBeUndefined();
	});
});

const words = (raised: Partial<RaisedException>) =>
	traceWords(traceOf({ ...RAISED, ...raised }, "/job"));

describe("an uncaught exception in words", () => {
	it.each<[string, Partial<RaisedException>]>([
		["ValueError: bad batch 12, at train.py:51", {}],
		["ValueError: one, at train.py:51", { message: "\n one \ntwo" }],
		["ValueError: red, at train.py:51", { message: "\x1b[31mred\x1b[0m" }],
		[
			"ValueError: bad batch 12, at /opt/lib/python3.12/site-packages/torch/x.py:9 in call",
			{ stack: RAISED.stack.split("\n", 1)[0] ?? "" },
		],
		[
			"KeyError: 'x', at data.py:12 in __getitem__",
			{
				message: `Caught KeyError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "/job/data.py", line 12, in __getitem__
    return table["x"]
KeyError: 'x'
`,
			},
		],
		[
			"RuntimeError: no memory, at train.py:51",
			{
				message: `Caught RuntimeError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "/opt/lib/python3.12/site-packages/torch/storage.py", line 4, in share
    return share(size)
RuntimeError: no memory
`,
			},
		],
		[
			"TypeError: no, at train.js:3 in load",
			{
				...{ kind: "node", type: "TypeError", message: "no" },
				stack: `TypeError: no
    at load (file:///job/train.js:3:7)
    at node:internal/x:1:1`,
			},
		],
		[
			"it is over",
			{
				...{ kind: "node", type: null, message: "it is over" },
				stack: "    at node:internal/x:1:1",
			},
		],
	])("%s", (expected, raised) => {
		expect(words(raised)).toBe(expected);
	});

	it("are short, however long it is", () => {
		expect(words({ message: "x".repeat(4_000) }).length).toBeLessThan(250);
	});

	it.each<[string, Partial<RaisedException>]>([
		["it has raised ValueError: bad batch 12, at train.py:51", {}],
		[
			"its program has caught ValueError: bad batch 12, at train.py:51",
			{ ends: false },
		],
		[
			"its thread loader has ended with ValueError: bad batch 12, at train.py:51",
			{ ends: false, thread: "loader" },
		],
	])("%s", (expected, raised) => {
		expect(raisedWords({ ...RAISED, ...raised }, "/job")).toBe(expected);
	});
});
