import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openSite } from "../helpers/launch.js";

it("A5 the report names the line at which native code crashed, and where its core dump is", async () => {
	const site = openSite();
	const script = join(site.path, "train.py");
	writeFileSync(
		script,
		"import ctypes\ndef forward():\n    ctypes.string_at(0)\nforward()\n",
	);
	const { exitCode, stderr } = await site.launch(
		["--max-restarts", "0", script],
		{ cwd: site.path },
	).ended;
	expect(exitCode).toBe(1);
	expect(stderr).toMatch(
		/^root cause: rank 0 on .*: killed by SIGSEGV: at .*train\.py:3 in forward$/m,
	);
	expect(stderr).toMatch(/its last Python frames: .*train\.py:4 in <module>$/m);
	expect(stderr).toMatch(/its core (file|dump)|no core file/);
});

it("A5 the report names a full disk, with the worker's own words", async () => {
	const site = openSite();
	const script = join(site.path, "train.mjs");
	writeFileSync(
		script,
		'import { writeFileSync } from "node:fs";\nwriteFileSync("/dev/full", "x");\n',
	);
	const { exitCode, stderr } = await site.launch(
		["--max-restarts", "0", script],
		{ cwd: site.path },
	).ended;
	expect(exitCode).toBe(1);
	expect(stderr).toMatch(
		/^root cause: .*: Error: ENOSPC: .*, at train\.mjs:2: the disk is full$/m,
	);
	expect(stderr).toMatch(/hint: .*ENOSPC: no space left on device/);
});
