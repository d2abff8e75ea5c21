import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
	describeFault,
	describeSpawnError,
	examineOncePerTurn,
	interpreterOf,
} from "../../../src/processes/spawn-problem.js";
import { temporaryFolder } from "../../helpers/processes.js";

const place = { file: "/opt/train", cwd: "/data" };

describe("what is said of a spawn that failed", () => {
	test.each([
		[{ kind: "cwd-missing" }, "ENOENT", /^the working directory "\/data" does/],
		[{ kind: "cwd-forbidden" }, "EACCES", /"\/data" may not be entered/],
		[{ kind: "missing" }, "ENOENT", /"\/opt\/train" does not exist/],
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
	["\x7fELF", undefined],
])("the interpreter of %j is %s", (beginning, interpreter) => {
	expect(interpreterOf(beginning)).toBe(interpreter);
});

test("a sound command is examined once per turn, and vouches for no other one", async () => {
	const { path: cwd, remove } = temporaryFolder();
	onTestFinished(remove);
	const file = join(cwd, "program");
	writeFileSync(file, "#!/bin/sh\n");
	const examine = examineOncePerTurn();
	expect(examine({ file, cwd })).toEqual({ kind: "not-executable" });
	chmodSync(file, 0o755);
	expect(examine({ file, cwd })).toBeUndefined();
	const missing = { kind: "missing" };
	expect(examine({ file: join(cwd, "other"), cwd })).toEqual(missing);
	expect(examine({ file, cwd: "/no/such/place" })).toEqual({
		kind: "cwd-missing",
	});
	await Promise.resolve();
	rmSync(file);
	expect(examine({ file, cwd })).toEqual(missing);
});
