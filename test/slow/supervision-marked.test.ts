import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { MarkedProcesses } from "../../src/processes/escapees.js";

const MARK = "TEST_MARK=/elastic-run-0/run.agent/";

/** Sleeps with this environment until the test ends. */
async function sleeper(env: Record<string, string>): Promise<ChildProcess> {
	const child = spawn("/bin/sh", ["-c", "echo; exec sleep 600"], {
		env: { PATH: "/usr/bin:/bin", ...env },
		stdio: ["ignore", "pipe", "ignore"],
	});
	onTestFinished(() => void child.kill("SIGKILL"));
	// Between fork and exec a process has the environment of this one.
	await once(child.stdout ?? child, "data");
	return child;
}

const pidsOf = (processes: MarkedProcesses) =>
	processes.find().found.map(({ pid }) => pid);

describe.skipIf(process.platform !== "linux")("processes with a mark", () => {
	it("are found, and no others, however often one looks", async () => {
		const processes = new MarkedProcesses(MARK);
		expect(pidsOf(processes)).toEqual([]);
		const marked = await sleeper({ TEST_MARK: "/elastic-run-0/run.agent/w0" });
		const other = await sleeper({ TEST_MARK: "/elastic-run-0/other/w0" });
		for (const _ of [1, 2]) {
			expect(pidsOf(processes)).toContain(marked.pid);
			expect(pidsOf(processes)).not.toContain(other.pid);
		}
		const second = await sleeper({ TEST_MARK: "/elastic-run-0/run.agent/w1" });
		expect(pidsOf(processes)).toContain(second.pid);

		marked.kill("SIGKILL");
		await once(marked, "exit");
		expect(pidsOf(processes)).not.toContain(marked.pid);
	});

	it("that are older than this one are none", async () => {
		const young = await sleeper({});
		// Both have a PATH; the parent of this process is older than it.
		const processes = new MarkedProcesses("PATH=");
		expect(pidsOf(processes)).toContain(young.pid);
		expect(pidsOf(processes)).not.toContain(process.ppid);
	});
});
