import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { afterAll, expect, it } from "vitest";
import { createLogger } from "../../../src/logs/create-logger.js";
import { FreeSpaceWatch } from "../../../src/logs/free-space.js";
import { temporaryFolder } from "../../helpers/processes.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** A launcher's log that goes to /dev/full, where each write fails as on a full disk. */
async function logOnFullDisk(path = "/dev/full") {
	const shown: string[] = [];
	const stderr = new Writable({
		write(chunk: Buffer, _encoding, done) {
			shown.push(String(chunk));
			done();
		},
	});
	const log = createLogger({
		...{ stderr, format: "pretty", level: "info" },
		...{ wallTime: () => 0, look: { dated: true, colours: false } },
	});
	const space = new FreeSpaceWatch({
		clock: new VirtualClock(0),
		directory: tmpdir(),
		warn: (message) => log.warn(message),
	});
	log.attachFile(path, {
		makeDirectory: () => {},
		onError: (error) => space.failed(error),
	});
	return { log, shown };
}

it("a full disk is told at the first line of the launcher's own that cannot be written, and once", async () => {
	const { log, shown } = await logOnFullDisk();
	log.info("first");
	log.info("second");
	log.close();
	const told = shown.map((line) => line.includes("logs is full"));
	expect(told).toEqual([true, false, false]);
	expect(shown[0]).toContain(`make room in ${tmpdir()}`);
});

it("a log that can be written tells nothing", async () => {
	const { log, shown } = await logOnFullDisk(join(folder.path, "agent.log"));
	log.info("first");
	log.close();
	expect(shown).toHaveLength(1);
});

it.each([
	["ENOSPC", 1],
	["EDQUOT", 1],
	["EISDIR", 0],
])("what cannot be written beside a worker's log for %s is told %i times", (code, times) => {
	const told: string[] = [];
	const space = new FreeSpaceWatch({
		clock: new VirtualClock(0),
		directory: tmpdir(),
		warn: (message) => told.push(message),
	});
	const error = Object.assign(new Error(code), { code });
	space.failedBeside(error);
	space.failedBeside(error);
	space.close();
	expect(told).toHaveLength(times);
	for (const message of told) expect(message).toContain("logs is full");
});
