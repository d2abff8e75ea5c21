import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
	createLogger,
	type LoggerOptions,
} from "../../../src/logs/create-logger.js";

let directory = "";
beforeEach(() => {
	directory = mkdtempSync(join(tmpdir(), "elastic-run-test-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

async function loggerOf(options: Partial<LoggerOptions> = {}) {
	let shown = "";
	const stderr = new Writable({
		write(chunk, _encoding, done) {
			shown += String(chunk);
			done();
		},
	});
	const logger = createLogger({
		stderr,
		format: "pretty",
		level: "info",
		look: { dated: false, colours: false },
		wallTime: () => new Date(2026, 0, 2, 12, 3, 4, 5).getTime(),
		...options,
	});
	return { logger, shown: () => shown };
}

const linesOf = (path: string) =>
	readFileSync(path, "utf8")
		.trimEnd()
		.split("\n")
		.map((line): unknown => JSON.parse(line));

describe("createLogger", () => {
	it("is short for people", async () => {
		const { logger, shown } = await loggerOf();
		logger.info("RUNNING→STOPPING rank 2 failed: exit code 1", { rank: 2 });
		logger.warn("this");
		logger.error("that");
		logger.debug("nothing");
		expect(shown()).toBe(
			"12:03:04.005 RUNNING→STOPPING rank 2 failed: exit code 1\n12:03:04.005 warning: this\n12:03:04.005 error: that\n",
		);
	});

	it("writes JSON with details and without secrets", async () => {
		const { logger, shown } = await loggerOf({ format: "json" });
		logger.info("to etcd://u:p@h", { rank: 2, password: "x" });
		expect(JSON.parse(shown())).toEqual({
			level: "info",
			time: new Date(2026, 0, 2, 12, 3, 4, 5).getTime(),
			rank: 2,
			password: "[redacted]",
			msg: "to etcd://u:[redacted]@h",
		});
	});

	it("writes earlier lines into the file as well", async () => {
		const { logger } = await loggerOf();
		const path = join(directory, "agent.log");
		logger.info("early");
		logger.attachFile(path);
		logger.info("late");
		logger.close();
		logger.info("too late");
		expect(linesOf(path)).toMatchObject([{ msg: "early" }, { msg: "late" }]);
		expect(statSync(path).mode & 0o777).toBe(0o600);
	});

	it("goes on in the file where stderr fails", async () => {
		const stderr = new Writable({
			write: (_chunk, _encoding, done) =>
				done(Object.assign(new Error("broken"), { code: "EPIPE" })),
		});
		const { logger } = await loggerOf({ stderr });
		const path = join(directory, "agent.log");
		logger.attachFile(path);
		logger.info("one");
		await new Promise(setImmediate);
		logger.info("two");
		logger.close();
		await new Promise(setImmediate);
		expect(linesOf(path)).toMatchObject([{ msg: "one" }, { msg: "two" }]);
	});
});
