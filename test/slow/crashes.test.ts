import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openSite } from "../helpers/launch.js";

/** What the launcher says of a script's only run, which fails. */
async function reportOf(name: string, script: string): Promise<string> {
	const site = openSite();
	writeFileSync(join(site.path, name), script);
	const launch = site.launch(["--max-restarts", "0", name]);
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(1);
	return stderr;
}

it("A5 the report names the line at which native code crashed, and where its core dump is", async () => {
	const report = await reportOf(
		"train.py",
		"import ctypes\ndef forward():\n    ctypes.string_at(0)\nforward()\n",
	);
	expect(report).toMatch(
		/^root cause: rank 0 on .*: killed by SIGSEGV: at .*train\.py:3 in forward$/m,
	);
	expect(report).toMatch(/its last Python frames: .*train\.py:4 in <module>$/m);
	expect(report).toMatch(/its core (file|dump)|no core file/);
});

it("A5 the report names a full disk, with the worker's own words", async () => {
	const report = await reportOf(
		"train.mjs",
		'import { writeFileSync } from "node:fs";\nwriteFileSync("/dev/full", "x");\n',
	);
	expect(report).toMatch(
		/^root cause: .*: Error: ENOSPC: .*, at train\.mjs:2: the disk is full$/m,
	);
	expect(report).toMatch(/hint: .*ENOSPC: no space left on device/);
});
