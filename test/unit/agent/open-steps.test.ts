import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { hungInput } from "../../../src/agent/open-steps.js";
import { HeldFile } from "../../../src/logs/held-file.js";

it("tells what a process that hangs has said last, and not what one before it said", () => {
	const folder = mkdtempSync(join(tmpdir(), "elastic-run-hung-"));
	onTestFinished(() => rmSync(folder, { recursive: true }));
	const path = join(folder, "stderr.log");
	writeFileSync(path, "an earlier process\nNCCL watchdog timed out\n");
	const stderr = { file: new HeldFile(path), startBytes: 19, fd: -1, path };
	const process = {
		...{ localRank: 1, rank: 3, pid: 7, directory: folder, startedAt: 500 },
		logs: { directory: folder, stdout: undefined, stderr },
	};
	const hung = {
		round: 1,
		cause: "hang",
		description: "hung",
		stillMs: 61_000,
		failsRun: false,
		step: 3,
	} as const;
	expect(hungInput(process, hung, 61_500.4)).toEqual({
		...{ kind: "worker-hung", ...hung },
		...{ localRank: 1, pid: 7, uptimeMs: 61_000, error: undefined },
		lastLines: "NCCL watchdog timed out",
	});
});
