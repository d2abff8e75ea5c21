import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { examineOncePerTurn } from "../../../src/processes/spawn-problem.js";
import { temporaryFolder } from "../../helpers/processes.js";

let folder: ReturnType<typeof temporaryFolder>;
let file: string;
beforeEach(() => {
	folder = temporaryFolder();
	file = join(folder.path, "program");
	writeFileSync(file, "#!/bin/sh\n");
	chmodSync(file, 0o755);
});
afterEach(() => folder.remove());

test("a command that goes away between two rounds is missed", async () => {
	const examine = examineOncePerTurn();
	const place = { file, cwd: folder.path };
	expect(examine(place)).toBeUndefined();
	await Promise.resolve();
	rmSync(file);
	expect(examine(place)).toEqual({ kind: "missing" });
});

test("a sound command vouches for no other one of the same turn", () => {
	const examine = examineOncePerTurn();
	expect(examine({ file, cwd: folder.path })).toBeUndefined();
	const other = { file: join(folder.path, "other"), cwd: folder.path };
	expect(examine(other)).toEqual({ kind: "missing" });
	expect(examine({ file, cwd: "/no/such/place" })).toEqual({
		kind: "cwd-missing",
	});
});

test("one that is not sound is looked at each time", () => {
	const examine = examineOncePerTurn();
	chmodSync(file, 0o644);
	const place = { file, cwd: folder.path };
	expect(examine(place)).toEqual({ kind: "not-executable" });
	chmodSync(file, 0o755);
	expect(examine(place)).toBeUndefined();
});
