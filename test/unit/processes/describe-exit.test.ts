import { describe, expect, test } from "vitest";
import { describeExit } from "../../../src/processes/describe-exit.js";
import type { WorkerExit } from "../../../src/processes/worker.js";

const ended = (how: Partial<WorkerExit>): WorkerExit => ({
	code: null,
	signal: null,
	signalledByAgent: false,
	uptimeMs: 1000,
	...how,
});

describe("how a worker ended", () => {
	test.each([
		[{ code: 0 }, 0, "exit code 0"],
		[{ code: 128 }, 128, "exit code 128"],
		[{ code: 134 }, 134, "exit code 134 (SIGABRT reported by a shell)"],
		[
			{ code: 163 },
			163,
			"exit code 163 (real-time signal 35 reported by a shell)",
		],
		[{ signal: "SIGKILL" }, 137, "killed by SIGKILL"],
	] as const)("%o", (how, exitCode, description) => {
		const said = describeExit(ended(how), undefined);
		expect(said).toMatchObject({ exitCode, description });
	});

	test.each([
		[{ code: 1 }, undefined],
		[{ code: 9 }, /Node\.js does not know/],
		[{ code: 127 }, /was not found/],
		[{ code: 139 }, /native code/],
		[{ signal: "SIGABRT" }, /heap/],
		[{ signal: "SIGTERM" }, /somebody else/],
		[{ signal: "SIGTERM", signalledByAgent: true }, undefined],
		[{ signal: "SIGKILL", signalledByAgent: true }, undefined],
	] as const)("and what that hints at: %o", (how, hint) => {
		const said = describeExit(ended(how), "/usr/bin/node").hint;
		if (hint === undefined) expect(said).toBeUndefined();
		else expect(said).toMatch(hint);
	});

	test.each([
		undefined,
		"/bin/sh",
		"/opt/nodes",
	])("a code of Node's means nothing of %s", (program) => {
		expect(describeExit(ended({ code: 9 }), program).hint).toBeUndefined();
	});

	test.each([
		[1, 0, 2, /^in this round the kernel has killed 2 of .* from 0 to 2\)/],
		[127, 3, 4, /has killed 1 of .*\n.*was not found/],
		[1, 3, 3, undefined],
		[1, undefined, 3, undefined],
		[0, 0, 2, undefined],
	])("K9 code %i, counter from %s to %s", (code, before, now, hint) => {
		const said = describeExit(ended({ code }), "/x", { before, now }).hint;
		if (hint === undefined) expect(said).toBeUndefined();
		else expect(said).toMatch(new RegExp(hint.source, "s"));
	});

	test.each([
		[undefined, undefined, /^not sent by this launcher: maybe out of memory/],
		[0, undefined, /^not sent by this launcher: maybe out of memory/],
		[0, 1, /^out of memory: .* from 0 to 1/],
		[2, 2, /nor by the control group's .* still 2/],
	])("by SIGKILL, counter from %s to %s", (before, now, hint) => {
		for (const how of [{ signal: "SIGKILL" }, { code: 137 }] as const)
			expect(describeExit(ended(how), "/x", { before, now }).hint).toMatch(
				hint,
			);
	});
});
