// What the runtime libraries of all languages do alike, in real workers.
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { errorIn, hearingAgent } from "../fixtures/hearing-agent.js";
import { until } from "../fixtures/runtime-harness.js";
import { RUNTIMES } from "../fixtures/runtimes.js";
import {
	pause,
	replaceLatest,
	temporaryDirectory,
	work,
} from "../unit/channel/samples.js";

describe.each(RUNTIMES)("a worker in $name", (runtime) => {
	beforeEach(runtime.need);

	/** A worker that does this, and its agent, which has sent the first round. */
	async function acting(
		act: string,
		env: Readonly<Record<string, string>> = {},
	) {
		const agent = await hearingAgent();
		const event = agent.channel.send(work(1), 1);
		const begin = () =>
			runtime.start("worker", { channel: agent.channel, env, args: [act] });
		return { ...agent, event, begin };
	}

	it("T3 has its event and its place as its first statement", async () => {
		const { event, begin, words } = await acting("first");
		const worker = begin();
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual(runtime.shown(event));
		expect(worker.stderr()).toBe("");
		await until(words, ["HELLO", "ACK 1"]);
	});

	it("learns of a round though it never lets anything else run", async () => {
		const { channel, begin, words } = await acting("blocked");
		const worker = begin();
		await until(worker.lines, [1]);
		channel.send(pause(1), 2);
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([1, 2]);
		await until(words, ["HELLO", "ACK 1", "ACK 3"]);
	});

	it("ends when its own work is done, though it listens", async () => {
		const { begin } = await acting("background");
		const worker = begin();
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([1]);
	});

	it("lives on while it waits for work, and acknowledges the PAUSE", async () => {
		const { channel, begin, words } = await acting("waits");
		const worker = begin();
		await until(words, ["HELLO", "ACK 1", "WAITING 1"]);
		channel.send(pause(1), 2);
		await until(() => words().at(-1), "ACK 2");
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([1, 2]);
		await until(() => words().at(-1), "ACK 3");
	});

	it("does not wait behind a round of which the worker has only heard", async () => {
		const { channel, begin, words } = await acting("hears_first");
		const worker = begin();
		await until(worker.lines, [1]);
		channel.send(pause(1), 2);
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([1, 2, 2]);
		await until(() => words().at(-1), "WORKING 2");
		expect(words()).not.toContainEqual(expect.stringContaining("WAITING"));
	});

	it("T13 gets every event from the first, and lives on while it awaits the next", async () => {
		const { channel, begin, words } = await acting("iterates");
		const worker = begin();
		await until(worker.lines, [1]);
		channel.send(pause(1), 2);
		await until(worker.lines, [1, 2]);
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		await until(words, ["HELLO", "ACK 1", "ACK 2", "ACK 3"]);
	});

	it("does not wait for an agent that is gone", async () => {
		const { channel, begin, words } = await acting("gone");
		const worker = begin();
		await until(() => words().at(-1), "WAITING 1");
		channel.remove();
		expect(await worker.ended).toBe(0);
		const gone = ["CHANNEL", expect.stringContaining("its agent has ended")];
		expect(worker.lines()).toEqual([1, gone, gone, 1]);
	});

	it("reports, and leaves its error in the error file as well", async () => {
		const file = join(temporaryDirectory(), "error.json");
		const env = { TORCHELASTIC_ERROR_FILE: file };
		const { begin, reports } = await acting("reports", env);
		const worker = begin();
		expect(await worker.ended).toBe(0);
		const { message, origin, ...reported } = runtime.reported;
		const stack = expect.stringMatching(reported.stack);
		await until(reports, [
			{ kind: "HELLO" },
			{ kind: "PROGRESS", step: 12, loss: 0.5 },
			{ kind: "ACK", event: 1 },
			{ kind: "ERROR", message, stack },
		]);
		const timestamp = expect.stringMatching(/^\d{10}$/);
		expect(errorIn(file)).toEqual({
			message,
			extraInfo: { py_callstack: stack, timestamp, origin },
		});
		expect(readdirSync(join(file, ".."))).toEqual(["error.json"]);
	});

	it("does not acknowledge a PAUSE that it has not been shown", async () => {
		const { channel, begin, words } = await acting("paused");
		channel.send(pause(1), 2);
		const worker = begin();
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([1]);
		await until(words, ["HELLO", "PROGRESS"]);
	});

	it("learns at once of a report that cannot be sent; an error is cut to what can", async () => {
		const { begin, reports } = await acting("refused");
		const worker = begin();
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual(runtime.refused.errors);
		const text = expect.stringMatching(runtime.refused.text);
		await until(() => reports().length, 2);
		expect(reports()[1]).toMatchObject({ kind: "ERROR", message: text });
	});

	it("of several processes loses no reply", async () => {
		const { channel, begin, replies } = await acting("children");
		const worker = begin();
		expect(await worker.ended).toBe(0);
		const count = (wanted: string) =>
			replies.filter(({ kind }) => kind === wanted).length;
		await until(() => count("PROGRESS"), 160);
		expect(count("HELLO")).toBe(4);
		expect(replies).toHaveLength(164);
		expect(readdirSync(join(channel.directory, "tmp"))).toEqual([]);
	});

	it("is warned once of a message that is broken, and works on", async () => {
		const { channel, begin } = await acting("broken");
		replaceLatest(channel.directory, '{"version":1,');
		const worker = begin();
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([1, 1]);
		expect(worker.stderr().match(/ElasticRunWarning/g)).toHaveLength(1);
		expect(worker.stderr()).toContain("latest.json cannot be read");
	});

	it("gets its place from torchrun's variables outside of elastic-run", async () => {
		const env = { RANK: "1", WORLD_SIZE: "2" };
		const worker = runtime.start("worker", { env, args: ["outside"] });
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual(runtime.outside.inPlace);
	});

	it("is told how to launch where nobody has launched it; its reports go nowhere", async () => {
		const worker = runtime.start("worker", { args: ["outside"] });
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual(runtime.outside.inNone);
		expect(worker.stderr()).toBe("");
	});

	it("ends with an error that names the channel that is not there", async () => {
		const env = { ELASTIC_RUN_CHANNEL: join(tmpdir(), "absent") };
		const worker = runtime.start("worker", { env, args: ["waits"] });
		expect(await worker.ended).toBe(1);
		expect(worker.stderr()).toMatch(/channel directory .*absent.*it is gone/);
	});
});
