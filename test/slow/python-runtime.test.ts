import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { ReceivedReply } from "../../src/channel/events.js";
import { errorIn, hearingAgent } from "../fixtures/hearing-agent.js";
import { needPython, startPython } from "../fixtures/python/start-python.js";
import { until } from "../fixtures/runtime-harness.js";
import {
	pause,
	temporaryDirectory,
	temporaryRoot,
	work,
} from "../unit/channel/samples.js";

beforeEach(needPython);

describe("a Python worker", () => {
	it("T2 hears each event until it takes its listener off; one that raises acknowledges nothing", async () => {
		const { channel, words } = await hearingAgent();
		channel.send(work(1), 1);
		const worker = startPython("worker", { channel, args: ["listens"] });
		await until(worker.lines, [1]);
		channel.send(pause(1), 2);
		await until(() => worker.stderr().includes("the user's own"), true);
		channel.send(work(2), 3);
		await until(worker.lines, [1, 3]);
		channel.send(pause(2), 4);
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([1, 3, "over"]);
		expect(worker.stderr()).toMatch(/^Exception in thread[\s\S]*RuntimeError/);
		// The last is acknowledged by the call that reads it.
		await until(words, ["HELLO", "ACK 1", "ACK 3", "ACK 4"]);
	});

	it("reports what JSON has no word for; no detail takes the envelope's names", async () => {
		const { channel, reports } = await hearingAgent();
		channel.send(work(1), 1);
		const args = ["reports_what_json_lacks"];
		const worker = startPython("worker", { channel, args });
		expect(await worker.ended).toBe(0);
		const progress = { step: 1, loss: null, lists: [[null, 1]] };
		await until(reports, [
			{ kind: "HELLO" },
			{ kind: "PROGRESS", ...progress, text: "ä\udc80" },
			{ kind: "ERROR", message: "just words", stack: undefined },
		]);
	});

	it("P11 learns that its machine will go, says when it is ready, and learns that it stays", async () => {
		const { channel, words } = await hearingAgent();
		channel.send(work(1), 1);
		const worker = startPython("worker", { channel, args: ["preempted"] });
		await until(worker.lines, [null]);
		const notice = {
			...({
				kind: "NOTICE",
				workerState: "HEALTHY",
				changeEvent: null,
			} as const),
			...{ instance: 1, round: 1, workerInfo: work(1).workerInfo },
			reason: "spot interruption",
		};
		channel.notify({ ...notice, source: "aws", deadline: 90 }, 2);
		const said = [null, "spot interruption", "WORK", ["heard", "aws", 90]];
		await until(worker.lines, said);
		await until(() => words().filter((word) => word === "ACK 2").length, 2);
		channel.notify({ ...notice, source: null, deadline: null }, 3);
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([...said, "stays"]);
		expect(worker.stderr()).toBe("");
		expect(words()[0]).toBe("NOTICED 2");
	});
});

describe("what ends a Python worker", () => {
	const error = { message: "ValueError: out of luck" };

	it.for([
		["registered", "excepthook", 1],
		["recorded", "record", 1],
		["with_hook", "excepthook", 7],
	] as const)("is in the error file: %s", async ([act, origin, exitCode]) => {
		const { ended, file } = crash(act);
		expect(await ended).toBe(exitCode);
		expect(errorIn(file)).toMatchObject({
			...error,
			extraInfo: {
				py_callstack: expect.stringMatching(
					/KeyError: 'first'[\s\S]*direct cause[\s\S]*ValueError: out of luck\n$/,
				),
				origin,
			},
		});
	});

	it.for([
		["exits", 3],
		["in_thread", 0],
		["in_fork", 0],
	] as const)("is not in it where no exception has: %s", async ([
		act,
		exitCode,
	]) => {
		const { ended, file } = crash(act);
		expect(await ended).toBe(exitCode);
		expect(existsSync(file)).toBe(false);
	});

	function crash(act: string) {
		const file = join(temporaryDirectory(), "error.json");
		const env = { TORCHELASTIC_ERROR_FILE: file };
		return { ...startPython("crash", { args: [act], env }), file };
	}
});

beforeEach(needPython);

describe("a Python worker's helpers do not speak for it", () => {
	it("forks, while it listens and iterates and its threads hold locks", async () => {
		const { channel, acknowledged, count } = open();
		const worker = startPython("helper", {
			channel,
			args: ["forks"],
			// Newer ones warn of forks beside threads, with reason.
			pythonOptions: ["-W", "ignore::DeprecationWarning"],
		});
		await until(acknowledged, [1]);
		channel.send(pause(1), 2);
		await until(() => worker.lines().length, 20);
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		const forks = Array(20).fill([1, "PAUSE"]);
		expect(worker.lines()).toEqual([...forks, 2]);
		expect(worker.stderr()).toBe("");
		expect(acknowledged()).toEqual([1, 2, 3]);
		expect([count("HELLO"), count("PROGRESS")]).toEqual([1, 20]);
		// The worker itself, unless the next round was there when it asked.
		expect(count("WAITING")).toBeLessThanOrEqual(1);
	});

	it.for([
		"fork",
		"spawn",
		"forkserver",
	])("multiprocessing's, by %s", async (method) => {
		const { channel, acknowledged, count } = open();
		const args = ["multiprocesses", method];
		const worker = startPython("helper", { channel, args });
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([[1, "WORK"], 0]);
		expect([count("HELLO"), count("WAITING")]).toEqual([1, 0]);
		expect(count("PROGRESS")).toBe(1);
		expect(acknowledged()).toEqual([1]);
	});
});

/** A channel with its first event. */
function open() {
	const channel = temporaryRoot().createWorker(0);
	channel.send(work(1), 1);
	const replies = join(channel.directory, "replies");
	const said = () =>
		readdirSync(replies)
			.sort()
			.map(
				(name): ReceivedReply =>
					JSON.parse(readFileSync(join(replies, name), "utf8")),
			);
	const count = (kind: ReceivedReply["kind"]) =>
		said().filter((reply) => reply.kind === kind).length;
	/** Which events, in the order in which it was said. */
	const acknowledged = () =>
		said().flatMap((reply) => (reply.kind === "ACK" ? [reply.event] : []));
	return { channel, count, acknowledged };
}

beforeEach(needPython);

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
