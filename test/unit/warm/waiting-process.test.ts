import { ChildProcess } from "node:child_process";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { stdioPipe } from "../../../src/warm/waiting-process.js";

it("is the stream of a child, whatever its number", () => {
	const pipe = new PassThrough();
	const stdio = Array.from({ length: 101 }, (_, at) =>
		at < 100 ? null : pipe,
	);
	expect(stdioPipe(Object.assign(new ChildProcess(), { stdio }), 100)).toBe(
		pipe,
	);
});

it("is missing at the limit of open files: that is an error, and the child's own error ends nothing", () => {
	const child = new ChildProcess();
	expect(() => stdioPipe(child, 3)).toThrow("too many open files");
	expect(child.emit("error", new Error("spawn EMFILE"))).toBe(true);
});
