import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { hungWorker } from "../../../src/agent/steps/hung-worker.js";
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
	expect(hungWorker(process, 61_500.4)).toEqual({
		...{ localRank: 1, pid: 7, uptimeMs: 61_000 },
		lastLines: "NCCL watchdog timed out",
	});
	expect(hungWorker({ ...process, logs: undefined }, 600)).toMatchObject({
		lastLines: undefined,
	});
});
