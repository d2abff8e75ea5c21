import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { errorIn, hearingAgent } from "../fixtures/hearing-agent.js";
import { start, until } from "../fixtures/runtime-harness.js";
import {
	pause,
	replaceLatest,
	temporaryDirectory,
	work,
	workerInfo,
} from "../unit/channel/samples.js";

const REGISTER = fileURLToPath(
	new URL("../../src/runtime/register.ts", import.meta.url),
);

describe("a worker", () => {
	it("has its event and its place as its first statement", async () => {
		const { channel, words } = await hearingAgent();
		const event = channel.send(work(1), 1);
		const worker = start("worker", { channel, args: ["first"] });
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([event, workerInfo(1)]);
		expect(worker.stderr()).toBe("");
		await until(words, ["HELLO", "ACK 1"]);
	});

	it("learns of a round though its event loop is blocked", async () => {
		const { channel, words } = await hearingAgent();
		channel.send(work(1), 1);
		const worker = start("worker", { channel, args: ["blocked"] });
		await until(worker.lines, [1]);
		channel.send(pause(1), 2);
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([1, 2]);
		await until(words, ["HELLO", "ACK 1", "ACK 3"]);
	});

	it("ends when its own work is done, though it listens", async () => {
		const { channel } = await hearingAgent();
		channel.send(work(1), 1);
		const worker = start("worker", { channel, args: ["background"] });
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([1]);
	});

	it("lives on while it waits for work, and acknowledges the PAUSE", async () => {
		const { channel, words } = await hearingAgent();
		channel.send(work(1), 1);
		const worker = start("worker", { channel, args: ["waits"] });
		await until(words, ["HELLO", "ACK 1", "WAITING 1"]);
		channel.send(pause(1), 2);
		await until(() => words().at(-1), "ACK 2");
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([1, 2]);
		await until(() => words().at(-1), "ACK 3");
	});

	it("does not wait behind a round of which the worker has only heard", async () => {
		const { channel, words } = await hearingAgent();
		channel.send(work(1), 1);
		const worker = start("worker", { channel, args: ["hearsFirst"] });
		await until(worker.lines, [1]);
		channel.send(pause(1), 2);
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([1, 2, 2]);
		await until(() => words().at(-1), "WORKING 2");
		expect(words()).not.toContainEqual(expect.stringContaining("WAITING"));
	});

	it("lives on while it awaits the next event", async () => {
		const { channel, words } = await hearingAgent();
		channel.send(work(1), 1);
		const worker = start("worker", { channel, args: ["iterates"] });
		await until(worker.lines, [1]);
		channel.send(pause(1), 2);
		await until(worker.lines, [1, 2]);
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		await until(words, ["HELLO", "ACK 1", "ACK 2", "ACK 3"]);
	});

	it("does not wait for an agent that is gone", async () => {
		const { channel, words } = await hearingAgent();
		channel.send(work(1), 1);
		const worker = start("worker", { channel, args: ["gone"] });
		await until(() => words().at(-1), "WAITING 1");
		channel.remove();
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([
			1,
			["CHANNEL", expect.stringContaining("its agent has ended")],
			1,
		]);
	});

	it("reports, and leaves its error in the error file as well", async () => {
		const { channel, replies } = await hearingAgent();
		channel.send(work(1), 1);
		const file = join(temporaryDirectory(), "error.json");
		const env = { TORCHELASTIC_ERROR_FILE: file };
		const worker = start("worker", { channel, env, args: ["reports"] });
		expect(await worker.ended).toBe(0);
		const stack = expect.stringMatching(/^RangeError: out of luck\n +at /);
		await until(
			() => replies.map(({ sequence, timestamp, ...reply }) => reply),
			[
				{ kind: "HELLO" },
				{ kind: "PROGRESS", step: 12, loss: 0.5 },
				{ kind: "ACK", event: 1 },
				{ kind: "ERROR", message: "RangeError: out of luck", stack },
			],
		);
		expect(errorIn(file)).toMatchObject({
			message: "RangeError: out of luck",
			extraInfo: { py_callstack: stack, origin: "reportError" },
		});
	});

	it("does not acknowledge a PAUSE that it has not been shown", async () => {
		const { channel, words } = await hearingAgent();
		channel.send(work(1), 1);
		channel.send(pause(1), 2);
		const worker = start("worker", { channel, args: ["paused"] });
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([1]);
		await until(words, ["HELLO", "PROGRESS"]);
	});

	it("learns at once of a report that cannot be sent; an error is cut to what can", async () => {
		const { channel, replies } = await hearingAgent();
		channel.send(work(1), 1);
		const worker = start("worker", { channel, args: ["refused"] });
		expect(await worker.ended).toBe(0);
		const names = ["TypeError", "TypeError", "ElasticRunError"];
		expect(worker.lines()).toEqual(names);
		await until(() => replies.length, 2);
		const text = expect.stringMatching(/^Error: y{1000}/);
		expect(replies[1]).toMatchObject({ kind: "ERROR", message: text });
	});

	it("of several processes loses no reply", async () => {
		const { channel, replies } = await hearingAgent();
		channel.send(work(1), 1);
		const worker = start("worker", { channel, args: ["children"] });
		expect(await worker.ended).toBe(0);
		await until(
			() => replies.filter(({ kind }) => kind === "PROGRESS").length,
			160,
		);
		expect(replies.filter(({ kind }) => kind === "HELLO")).toHaveLength(4);
	});

	it("has one state in all copies of the library", async () => {
		const { channel, words } = await hearingAgent();
		channel.send(work(1), 1);
		const worker = start("worker", {
			channel,
			args: ["copies"],
			nodeOptions: [],
		});
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([true, 1]);
		await until(words, ["HELLO", "ACK 1"]);
	});

	it("is warned once of a message that is broken, and works on", async () => {
		const { channel } = await hearingAgent();
		channel.send(work(1), 1);
		replaceLatest(channel.directory, '{"version":1,');
		const worker = start("worker", { channel, args: ["broken"] });
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([1, 1]);
		expect(worker.stderr().match(/ElasticRunWarning/g)).toHaveLength(1);
		expect(worker.stderr()).toContain("latest.json cannot be read");
	});
});

describe("outside of elastic-run", () => {
	it("a worker gets its place from torchrun's variables", async () => {
		const env = { RANK: "1", WORLD_SIZE: "2" };
		const worker = start("worker", { env, args: ["outside"] });
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([1]);
	});

	it("a process is told how to launch; its reports go nowhere", async () => {
		const worker = start("worker", { args: ["outside"] });
		expect(await worker.ended).toBe(0);
		const how = /elastic-run --nproc-per-node 2 runtime-worker.js/;
		expect(worker.lines()).toEqual([[true, expect.stringMatching(how)]]);
		expect(worker.stderr()).toBe("");
	});

	it("a channel that is not there is an error that names it", async () => {
		const env = { ELASTIC_RUN_CHANNEL: join(tmpdir(), "absent") };
		const worker = start("worker", { env, args: ["waits"] });
		expect(await worker.ended).toBe(1);
		expect(worker.stderr()).toMatch(/channel directory .*absent.*it is gone/);
	});
});

describe("what ends a worker", () => {
	const ORIGIN = {
		throw: "uncaughtException",
		reject: "unhandledRejection",
	};

	it.each([
		"throw",
		"reject",
	] as const)("is in the error file with --import elastic-run/register: %s", async (how) => {
		const file = join(temporaryDirectory(), "error.json");
		const env = { TORCHELASTIC_ERROR_FILE: file };
		const nodeOptions = ["--import", REGISTER];
		const plain = start("crash", { args: [how], nodeOptions: [] });
		const crash = start("crash", { args: [how], env, nodeOptions });
		expect(await crash.ended).toBe(1);
		expect(await plain.ended).toBe(1);
		expect(crash.stderr()).toBe(plain.stderr());
		expect(errorIn(file)).toEqual({
			message: "Error: out of luck",
			extraInfo: {
				py_callstack: expect.stringMatching(
					/^Error: out of luck\n +at .*runtime-crash/,
				),
				timestamp: expect.stringMatching(/^\d{10}$/),
				origin: ORIGIN[how],
			},
		});
		expect(readdirSync(join(file, ".."))).toEqual(["error.json"]);
	});

	it("is there, too, where the program has a handler of its own", async () => {
		const file = join(temporaryDirectory(), "error.json");
		const crash = start("crash", {
			args: ["handled"],
			env: { TORCHELASTIC_ERROR_FILE: file },
			nodeOptions: ["--import", REGISTER],
		});
		expect(await crash.ended).toBe(7);
		expect(errorIn(file)).toMatchObject({ message: "Error: out of luck" });
	});

	it.each([
		"throws",
		"rejects",
	])("is there where the program has loaded the library: %s", async (how) => {
		const file = join(temporaryDirectory(), "error.json");
		const env = { TORCHELASTIC_ERROR_FILE: file };
		const worker = start("worker", { env, args: [how] });
		expect(await worker.ended).toBe(1);
		expect(errorIn(file)).toMatchObject({ message: "Error: out of luck" });
	});

	it("stays what it is where the file cannot be written or is not named", async () => {
		const file = join(temporaryDirectory(), "absent", "error.json");
		for (const env of [{ TORCHELASTIC_ERROR_FILE: file }, {}]) {
			const nodeOptions = ["--import", REGISTER];
			const crash = start("crash", { args: ["throw"], env, nodeOptions });
			expect(await crash.ended).toBe(1);
			expect(crash.stderr()).toContain("Error: out of luck");
		}
		expect(existsSync(file)).toBe(false);
	});
});
