import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { readProcess } from "../../../src/base/process-stat.js";
import { readActivity } from "../../../src/hangs/activity.js";
import { endProcess, waitFor } from "../../helpers/processes.js";
import { onTestFinished } from "../../helpers/this-test.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const bytesRead = (pid: number) =>
	Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]);

/** A process that only reads what it is given. It has been loaded, and waits. */
async function reader() {
	const worker = spawn("wc", ["-c"], {
		...{ detached: true, stdio: ["pipe", "ignore", "ignore"] },
	});
	const { pid = 0 } = worker;
	onTestFinished(() => endProcess(pid));
	await waitFor("the reader", () => {
		const name = readFileSync(`/proc/${pid}/comm`, "utf8");
		return name === "wc\n" && readProcess(pid)?.state === "S";
	});
	return { pid, stdin: worker.stdin };
}

it.each<[string, number]>([
	["busy", 50_000],
	["idle", 100],
])("A5 a worker that computes nothing is %s when it reads %i bytes between two looks", async (activity, bytes) => {
	const { pid, stdin } = await reader();
	const before = bytesRead(pid);
	const clock = new VirtualClock();
	const looked = readActivity([{ pid, main: pid }], clock);
	stdin?.write(Buffer.alloc(bytes));
	await waitFor("its reading", () => bytesRead(pid) >= before + bytes);
	await clock.advance(200);
	expect(await looked).toMatchObject([{ activity, threads: 1 }]);
});

it("A5 a worker that computes is busy, though a machine with more to do gives it no time between two looks", async () => {
	const worker = spawn("sh", ["-c", "while :; do :; done"], {
		...{ detached: true, stdio: "ignore" },
	});
	const { pid = 0 } = worker;
	onTestFinished(() => endProcess(pid));
	await waitFor("its loop", () => readProcess(pid)?.state === "R");
	const clock = new VirtualClock();
	const looked = readActivity([{ pid, main: pid }], clock);
	await clock.advance(200);
	expect(await looked).toMatchObject([{ activity: "busy" }]);
});

it("A5 a worker that has ended is gone, and one that is stopped is stopped whatever it has read", async () => {
	const { pid, stdin } = await reader();
	const clock = new VirtualClock();
	const gone = 2 ** 22 + 1;
	const looked = readActivity(
		[
			{ pid, main: pid },
			{ pid: gone, main: gone },
		],
		clock,
	);
	const before = bytesRead(pid);
	stdin?.write(Buffer.alloc(50_000));
	await waitFor("its reading", () => bytesRead(pid) >= before + 50_000);
	process.kill(pid, "SIGSTOP");
	await waitFor("its stop", () => readProcess(pid)?.state === "T");
	await clock.advance(200);
	expect(await looked).toMatchObject([
		{ activity: "stopped" },
		{ activity: "gone" },
	]);
});
