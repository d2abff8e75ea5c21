import { beforeEach, describe, expect, it } from "vitest";
import { needPython, startPython } from "../fixtures/python/start-python.js";
import { until } from "../fixtures/runtime-harness.js";
import { fill, smallDisk } from "../fixtures/scarcity.js";
import { pause, temporaryRoot, work } from "../unit/channel/samples.js";

beforeEach(needPython);

describe("T13 a full disk", () => {
	it("is said once, however often it is met", async (context) => {
		const disk = smallDisk(context);
		const channel = temporaryRoot(disk).createWorker(0);
		channel.send(work(1), 1);
		fill(disk);
		for (const filter of ["always", "error"]) {
			const pythonOptions = ["-W", filter];
			const args = ["steps"];
			const worker = startPython("worker", { channel, args, pythonOptions });
			expect(await worker.ended).toBe(0);
			const warnings = worker.stderr().match(/cannot be told PROGRESS/g);
			expect(warnings).toHaveLength(1);
		}
	});
});

describe("T13 where there are no notifications", () => {
	it("a Python without ctypes polls, and says so once", async () => {
		const channel = temporaryRoot().createWorker(0);
		channel.send(work(1), 1);
		const worker = startPython("worker", { channel, args: ["without_ctypes"] });
		await until(() => worker.stderr().includes("each 150 ms"), true);
		channel.send(pause(1), 2);
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([1, 2, 3]);
		expect(worker.stderr().match(/for want of notifications/g)).toHaveLength(1);
	});
});
