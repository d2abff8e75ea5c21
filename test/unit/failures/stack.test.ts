import { describe, expect, it } from "vitest";
import {
	parseNodeStack,
	parsePythonStack,
	whereOf,
} from "../../../src/failures/stack.js";

const FAULTHANDLER = `Thread 0x00007f2a1b7fe700 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 320 in wait
  File "/usr/lib/python3.11/threading.py", line 995 in _bootstrap

Current thread 0x00007f2a2b9d1740 (most recent call first):
  File "/usr/lib/python3.11/site-packages/torch/utils/data/dataloader.py", line 9 in _next_data
  File "/job/train.py", line 41 in load_batch
  File "/job/train.py", line 60 in <module>
`;

describe("a Python stack", () => {
	const frames = parsePythonStack(FAULTHANDLER);

	it("A5 is that of the main thread, the innermost frame first", () => {
		expect(frames.map(({ line }) => line)).toEqual([9, 41, 60]);
	});

	it("A5 stands where the user's own code does", () => {
		expect(whereOf(frames, "/job")).toBe("train.py:41 in load_batch");
		expect(whereOf(frames, "/elsewhere")).toBe(
			"/job/train.py:41 in load_batch",
		);
	});

	it("A5 stands in a package if nothing else is there", () => {
		expect(whereOf(frames.slice(0, 1), "/job")).toMatch(
			"dataloader.py:9 in _next_data",
		);
		expect(whereOf([], "/job")).toBeUndefined();
	});

	it("A5 does not stand in this launcher's library of a clone", () => {
		const file = "/clone/dist/python/elastic_run/integrations/_saves.py";
		const inLibrary = { file, line: 52, function: "begin" };
		expect(whereOf([inLibrary, ...frames], "/job")).toMatch(/^train.py:41 /);
	});

	it("A5 may name its threads, as Python 3.14 does", () => {
		const named = FAULTHANDLER.replace(
			"Current thread 0x00007f2a2b9d1740",
			"Current thread 0x00007f2a2b9d1740 [MainThread]",
		);
		expect(parsePythonStack(named)).toEqual(frames);
	});

	it("A5 is the last thread's where the signal met another one", () => {
		const text = FAULTHANDLER.replace("Current thread", "Thread").replace(
			"in <module>",
			"in main",
		);
		expect(parsePythonStack(text)[1]).toMatchObject({ line: 41 });
	});
});

describe("a Node stack", () => {
	it("A5 is read with URLs, methods and anonymous functions", () => {
		const frames = parseNodeStack(
			`--- 1
  at spin (file:///job/train.mjs:12:3)
  at (/job/other.cjs:5:1)
  at async Trainer.step (file:///job/node_modules/x/a.js:7:1)
the event loop waits: no JavaScript runs
`,
		);
		expect(frames).toEqual([
			{ file: "/job/train.mjs", line: 12, function: "spin" },
			{ file: "/job/other.cjs", line: 5, function: "<anonymous>" },
			{
				file: "/job/node_modules/x/a.js",
				line: 7,
				function: "async Trainer.step",
			},
		]);
		expect(whereOf(frames, "/job")).toBe("train.mjs:12 in spin");
	});
});
