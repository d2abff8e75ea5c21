import { describe, expect, it } from "vitest";
import {
	type FailureFacts,
	fingerprintOf,
	isInVain,
} from "../../../src/failures/fingerprint.js";
import { parseTrace, traceWords } from "../../../src/failures/trace.js";

const PYTHON = `step 100 loss 0.5
Traceback (most recent call last):
  File "/job/train.py", line 60, in <module>
    main()
  File "/job/train.py", line 41, in load
    batch = torch.load(path)
  File "/usr/lib/python3.11/site-packages/torch/serialization.py", line 9, in load
    raise ValueError("bad batch 7")
ValueError: bad batch 7
`;
const CHAINED = `Traceback (most recent call last):
  File "/job/a.py", line 1, in first
    x
KeyError: 'x'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/job/b.py", line 2, in second
    y
my.errors.NoSuchShard: shard 3
and its second line
`;
const SYNTAX = `  File "/job/train.py", line 3
    def f(:
          ^
SyntaxError: invalid syntax
`;
const NODE = `/job/train.js:3
    throw new TypeError('no shard 4')
    ^

TypeError [ERR_SHARD]: no shard 4
    at read (/job/node_modules/shards/index.js:10:5)
    at async load (file:///job/train.js:3:11)
    at /job/train.js:5:1
    at Module._compile (node:internal/modules/cjs/loader:1356:14)

Node.js v20.11.0
`;
const FATAL = `Fatal Python error: Segmentation fault

Current thread 0x00007f2a2b9d1740 (most recent call first):
  File "/job/train.py", line 41 in step
  File "/job/train.py", line 60 in <module>
`;

describe("what a worker says about its end", () => {
	it.each([
		["Python", PYTHON, "ValueError: bad batch 7, at /job/train.py:41 in load"],
		[
			"Python, the last of two exceptions",
			CHAINED,
			"my.errors.NoSuchShard: shard 3, at /job/b.py:2 in second",
		],
		[
			"Python, a program that cannot be read",
			SYNTAX,
			"SyntaxError: invalid syntax, at /job/train.py:3",
		],
		[
			"Python, a fatal signal",
			FATAL,
			"Fatal Python error: Segmentation fault, at /job/train.py:41 in step",
		],
		[
			"Node",
			NODE,
			"TypeError [ERR_SHARD]: no shard 4, at /job/train.js:3 in load",
		],
		[
			"no exception",
			"step 7\nno \u001b[31mdata\u001b[0m in /x\n\n",
			"no data in /x",
		],
	])("%s", (_, text, words) => {
		const trace = parseTrace(text);
		expect(trace && traceWords(trace)).toBe(words);
	});

	it("may be nothing", () => {
		expect(parseTrace("\n \n")).toBeUndefined();
	});
});

const EXIT: FailureFacts = {
	kind: "exit",
	exitCode: 1,
	signal: null,
	isOutOfMemory: false,
	trace: undefined,
	rank: 3,
	step: undefined,
	description: "exit code 1",
};
const of = (change: Partial<FailureFacts>) =>
	fingerprintOf({ ...EXIT, ...change });
const raised = (message: string) =>
	of({ trace: parseTrace(PYTHON.replaceAll("bad batch 7", message)) });

describe("a fingerprint", () => {
	it("has kind of exit, type, frame and message", () => {
		expect(raised("bad batch 7")).toBe(
			"exit code 1; ValueError; /job/train.py:41 in load; bad batch #",
		);
	});

	it.each([
		["another number", "bad batch 12", true],
		["a digest", "bad batch 3fa94c21", true],
		["other words", "no batch 7", false],
	])("with %s in the message: the same is %j", (_, message, isSame) => {
		expect(raised(message) === raised("bad batch 7")).toBe(isSame);
	});

	it("without an exception is that of one rank and its last line", () => {
		expect(of({})).toBe("exit code 1; rank 3; ");
		expect(of({ trace: parseTrace("lost peer 4") })).toBe(
			"exit code 1; rank 3; lost peer #",
		);
	});

	it.each<[string, Partial<FailureFacts>, string | undefined]>([
		["a kill", { exitCode: 137, signal: "SIGKILL", step: 5 }, undefined],
		["a stop", { exitCode: 143, signal: "SIGTERM", step: 5 }, undefined],
		[
			"a kill for want of memory",
			{ exitCode: 137, signal: "SIGKILL", isOutOfMemory: true },
			"out of memory; rank 3",
		],
		[
			"a crash in native code at a step",
			{ exitCode: 139, signal: "SIGSEGV", step: 100 },
			"signal 11; rank 3, step 100",
		],
		[
			"a crash whose frames Python has printed",
			{ exitCode: 139, signal: "SIGSEGV", trace: parseTrace(FATAL) },
			"signal 11; Fatal Python error; /job/train.py:41 in step; Segmentation fault",
		],
		[
			"a hang",
			{ kind: "hang", description: "hung for 61 s at a.py:4 in f", step: 9 },
			"hang at a.py:# in f; step 9",
		],
		[
			"a hang, whatever made its rank the suspect this time",
			{
				...{ kind: "hang", step: 9 },
				description: "hung for 10 min 1 s: it has not made step 10",
			},
			"hang; rank 3, step 9",
		],
		[
			"a hang at its place of a worker that computes, and for another time",
			{
				...{ kind: "hang", step: 9, rank: 2 },
				description: "slow: no step for 2 min 1 s at a.py:7 in f",
			},
			"hang at a.py:# in f; step 9",
		],
		[
			"a hang without a suspect",
			{
				...{ kind: "hang", step: 9 },
				description: "hung for 5 s, no suspect: this rank only stands for all",
			},
			"hang, no suspect: this rank only stands for all; rank 3, step 9",
		],
		[
			"a hang before the first step",
			{ kind: "hang", description: "hung for 5 s at a.py:7 in f" },
			undefined,
		],
	])("of %s", (_, change, words) => {
		expect(of(change)).toBe(words);
	});
});

describe("C5 no restart changes", () => {
	const python = (error: string) =>
		`Traceback (most recent call last):\n  File "/job/train.py", line 2, in <module>\n    import x\n${error}\n`;
	const node = (error: string) =>
		`file:///job/train.js:3\n\n${error}\n    at load (file:///job/train.js:3:11)\n`;
	const usage = "usage: train.py [-h] [--lr LR]\ntrain.py: error: ";

	it.each<[text: string, isInVain: boolean, exitCode?: number]>([
		[python("ModuleNotFoundError: No module named 'nosuch'"), true],
		[python("ImportError: cannot import name 'x' from 'y' (/z.py)"), true],
		[SYNTAX, true],
		[node("SyntaxError: Unexpected token '}'"), true],
		[node("Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'"), true],
		[node("Error: Cannot find module './x.js'"), true],
		["/usr/bin/python3: No module named nosuch", true],
		[`${usage}unrecognized arguments: --foo`, true, 2],
		["Error: No such option: --foo", true, 2],
		["train.py: error: argument --lr: invalid float value: 'x'", true, 2],
		["Error: cannot connect to the data server: timed out", false, 2],
		["loader: error: no answer from 10.0.0.1", false, 2],
		[python("ImportError: /root/.cache/ops.so: file too short"), false],
		[`${usage}unrecognized arguments: --foo`, false, 1],
		[node("SyntaxError: Unexpected end of JSON input"), false],
		[node("Error: connect ECONNREFUSED 127.0.0.1:1"), false],
		[python("OSError: [Errno 98] Address already in use"), false],
		[python("FileNotFoundError: [Errno 2] No such file: 'data'"), false],
		["no data in /x", false, 2],
		// It lived through this one, and was killed.
		[python("ImportError: no flash_attn"), false, 137],
	])("%s: %s", (text, expected, exitCode = 1) => {
		expect(isInVain({ exitCode, trace: parseTrace(text) })).toBe(expected);
	});

	it("is the same whichever rank and line it came from", () => {
		const trace = parseTrace(`${usage}unrecognized arguments: --foo`);
		expect(of({ trace, exitCode: 2, rank: 0 })).toBe(
			of({ trace, exitCode: 2, rank: 1 }),
		);
	});
});
