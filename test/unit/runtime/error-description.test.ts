import { expect, it } from "vitest";
import {
	describeError,
	errorFileText,
	stackOf,
} from "../../../src/runtime/error-description.js";

it.each([
	[new TypeError("no"), "TypeError: no"],
	["just text", "just text"],
	[{ code: 3 }, "{ code: 3 }"],
	[undefined, "undefined"],
	[Symbol("s"), "Symbol(s)"],
	[Object.create(null), "[Object: null prototype] {}"],
])("describes what was thrown: %o", (error, words) => {
	expect(describeError(error)).toBe(words);
});

it("has the causes in its stack, and no stack for what is no error", () => {
	const error = new Error("outer", { cause: new RangeError("inner") });
	expect(stackOf(error)).toMatch(
		/^Error: outer[\s\S]*error-description[\s\S]*cause[\s\S]*RangeError: inner/,
	);
	expect(stackOf("text")).toBeUndefined();
});

it("writes the format of torch's @record", () => {
	const error = new Error("out of luck");
	const text = errorFileText(error, 1795163950999, "uncaughtException");
	expect(JSON.parse(text)).toEqual({
		message: {
			message: "Error: out of luck",
			extraInfo: {
				py_callstack: stackOf(error),
				timestamp: "1795163950",
				origin: "uncaughtException",
			},
		},
	});
});
