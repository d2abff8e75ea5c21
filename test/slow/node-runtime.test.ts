// What only Node's library does: see runtimes.test.ts.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { errorIn, hearingAgent } from "../fixtures/hearing-agent.js";
import { start, until } from "../fixtures/runtime-harness.js";
import { bundled } from "../helpers/bundled.js";
import { temporaryDirectory, work } from "../unit/channel/samples.js";

const REGISTER = bundled(
	fileURLToPath(new URL("../../src/runtime/register.ts", import.meta.url)),
);
/** The library for CommonJS as the package ships it: another copy than that of the fixtures. */
const BUILT_COPY = fileURLToPath(
	new URL("../../dist/cjs/runtime/runtime.js", import.meta.url),
);

it("a worker has one state in all copies of the library", async () => {
	const { channel, words } = await hearingAgent();
	channel.send(work(1), 1);
	const worker = start("worker", { channel, args: ["copies", BUILT_COPY] });
	expect(await worker.ended).toBe(0);
	expect(worker.lines()).toEqual([true, 1]);
	await until(words, ["HELLO", "ACK 1"]);
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
		const plain = start("crash", { args: [how] });
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
