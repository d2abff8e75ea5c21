import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.js";
import { channelPaths, hookPaths } from "../../../src/channel/layout.js";
import { takeEvidence } from "../../../src/hangs/evidence.js";
import { temporaryFolder } from "../../helpers/processes.js";
import { silentWorker } from "../../helpers/silent-worker.js";
import { onTestFinished } from "../../helpers/this-test.js";

it("A5 evidence is what /proc says, then the last lines, then the stacks, and last what the sockets answer", async () => {
	const { process, outputs, stack, listensAt } = await silentWorker();
	const folder = temporaryFolder();
	const socket = join(folder.path, "torch.sock");
	const server = createServer((_, answer) => {
		answer.end(JSON.stringify({ hasWrittenStack: existsSync(stack) }));
	}).listen(socket);
	onTestFinished(() => {
		server.close();
		folder.remove();
	});
	listensAt(socket);
	const { exception } = hookPaths(channelPaths(process.directory).hook);
	const raised = `{"version":1,"kind":"python","pid":${process.pid},"start_time":"","thread":null,"ends":true,"type":"KeyError","message":"no batch","stack":""}`;
	writeFileSync(exception, raised);
	const [out] = outputs;
	const stdout = out && { ...out, startBytes: 0, fd: -1, path: "" };
	const logs = { directory: folder.path, stdout, stderr: undefined };
	const [found] = await takeEvidence(
		[{ ...process, logs }],
		{ clock: systemClock, nodeId: "a", cwd: "/job", progress: () => [] },
		systemClock.now() + 60_000,
	);
	// The signal makes this worker write another line, and compute from then on.
	expect(found?.evidence.activity).toBe("idle");
	expect(found?.lastLines).toEqual([{ name: "stdout", lines: ["step 7"] }]);
	expect(found?.evidence.where).toBe("train.py:41 in load_batch");
	expect(found?.evidence.raised).toBe("KeyError: no batch");
	expect(found?.recording?.text).toBe('{"hasWrittenStack":true}');
});
