import { expect, it } from "vitest";
import {
	type Answer,
	answerInWords,
} from "../../../src/runtime/node-hook/stack-text.js";

const frame = (functionName: string, url: string) => ({
	functionName,
	url,
	lineNumber: 40,
	columnNumber: 2,
});

it.each<[string, Answer, readonly string[]]>([
	[
		"frames, innermost first",
		{
			kind: "running",
			frames: [
				frame("loadBatch", "/job/train.js"),
				frame("", "file:///job/my%20train.mjs"),
				frame("run", "node:internal/main"),
				frame("odd", "file://elsewhere/x.mjs"),
			],
		},
		[
			"  at loadBatch (/job/train.js:41:3)",
			"  at <anonymous> (/job/my train.mjs:41:3)",
			"  at run (node:internal/main:41:3)",
			"  at odd (file://elsewhere/x.mjs:41:3)",
		],
	],
	[
		"what the event loop waits for",
		{ kind: "waiting", resources: ["Timeout", "TCPWrap", "Timeout"] },
		[
			"the event loop waits: no JavaScript runs",
			"active resources: 2 Timeout, TCPWrap",
		],
	],
	[
		"that it waits for nothing",
		{ kind: "waiting", resources: [] },
		["the event loop waits: no JavaScript runs", "active resources: none"],
	],
	[
		"that it waits, where no more can be learned",
		{ kind: "waiting", resources: undefined },
		["the event loop waits: no JavaScript runs"],
	],
	[
		"that there is no answer",
		{ kind: "silent" },
		["the main thread does not answer: it is in native code"],
	],
])("tells %s below the question's number", (_, answer, lines) => {
	expect(answerInWords(7, answer)).toBe(["--- 7", ...lines, ""].join("\n"));
});
