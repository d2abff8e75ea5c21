import { describe, expect, test } from "vitest";
import {
	describeFault,
	describeSpawnError,
	interpreterOf,
} from "../../../src/processes/spawn-problem.js";

const place = { file: "/opt/train", cwd: "/data" };

describe("what is said of a spawn that failed", () => {
	test.each([
		[{ kind: "cwd-missing" }, "ENOENT", /^the working directory "\/data" does/],
		[{ kind: "cwd-not-a-directory" }, "ENOTDIR", /"\/data" is not a directory/],
		[{ kind: "cwd-forbidden" }, "EACCES", /"\/data" may not be entered/],
		[{ kind: "missing" }, "ENOENT", /"\/opt\/train" does not exist/],
		[{ kind: "directory" }, "EISDIR", /"\/opt\/train" is a directory/],
		[{ kind: "special" }, "EACCES", /"\/opt\/train" is a pipe, a socket or a/],
		[{ kind: "not-executable" }, "EACCES", /chmod \+x/],
		[
			{ kind: "interpreter-missing", interpreter: "/bin/zsh" },
			"ENOENT",
			/names the interpreter "\/bin\/zsh"/,
		],
		[
			{ kind: "interpreter-missing", interpreter: "/bin/sh\r" },
			"ENOENT",
			/as on Windows.*sed -i 's\/\\r\$\/\/' "\/opt\/train"/,
		],
	] as const)("%o", (fault, code, message) => {
		const problem = describeFault(fault, place);
		expect(problem.code).toBe(code);
		expect(problem.message).toMatch(message);
	});

	test.each([
		["E2BIG", /put them in a file \(E2BIG\)$/],
		["EAGAIN", /ulimit -u/],
		["EMFILE", /ulimit -n/],
		["EIO", /^"\/opt\/train" could not be started in "\/data": spawn EIO$/],
	])("the system's error %s", (code, message) => {
		const problem = describeSpawnError(code, `spawn ${code}`, place);
		expect(problem).toEqual({ code, message: expect.stringMatching(message) });
	});

	test("an error without a code", () => {
		expect(describeSpawnError(undefined, "null bytes", place)).toEqual({
			code: "EINVAL",
			message: '"/opt/train" could not be started in "/data": null bytes',
		});
	});
});

test.each([
	["#!/bin/sh\necho\n", "/bin/sh"],
	["#! /usr/bin/env node\n", "/usr/bin/env"],
	["#!/bin/sh -e\n", "/bin/sh"],
	["#!/bin/sh\r\n", "/bin/sh\r"],
	["#!/a/path/that/was/cut", undefined],
	["#!\n", undefined],
	["echo #!/bin/sh\n", undefined],
	["\x7fELF", undefined],
	["", undefined],
])("the interpreter of %j is %s", (beginning, interpreter) => {
	expect(interpreterOf(beginning)).toBe(interpreter);
});
