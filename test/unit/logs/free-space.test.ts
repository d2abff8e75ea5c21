import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { Writable } from "node:stream";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { createLogger } from "../../../src/logs/create-logger.js";
import { FreeSpaceWatch } from "../../../src/logs/free-space.js";
import { fill, smallDisk } from "../../fixtures/scarcity.js";
import { temporaryFolder } from "../../helpers/processes.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const folder = temporaryFolder();
afterAll(() => folder.remove());

const WORDS = {
	...{ holds: "the logs", loss: "lines are lost", otherPlace: "--log-dir" },
};
const noting = (told: string[]) => {
	const note = (message: string) => void told.push(message);
	return { info: note, warn: note };
};

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
		...{ directory: tmpdir(), ...WORDS, log },
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

it("tells each time that a disk fills up, and when it has room again", async (context) => {
	const directory = smallDisk(context);
	const clock = new VirtualClock(5_000);
	const told: string[] = [];
	const space = new FreeSpaceWatch({
		...{ clock, directory, ...WORDS, log: noting(told) },
	});
	onTestFinished(() => space.close());
	await space.look();
	expect([space.fullAt, told]).toEqual([undefined, []]);

	const words = [
		`the file system of the logs is full: lines are lost; make room in ${directory}, or use another --log-dir`,
		"the file system of the logs has room again",
	];
	for (const times of [1, 2]) {
		const empty = fill(directory);
		await space.look();
		clock.advance(700);
		await space.look();
		expect(space.fullAt).toBe(clock.now());
		empty();
		clock.advance(200);
		await space.look();
		expect(space.fullAt).toBe(clock.now());
		expect(told).toEqual(Array(times).fill(words).flat());
	}
	expect(readdirSync(directory)).toEqual([]);
});

it("finds by a write that there is no room where the file system tells of some", async (context) => {
	// Its space is enough; a file more is not.
	const directory = smallDisk(context, "size=1m,nr_inodes=1");
	const told: string[] = [];
	const space = new FreeSpaceWatch({
		...{ clock: new VirtualClock(0), directory, ...WORDS, log: noting(told) },
	});
	onTestFinished(() => space.close());
	await space.look();
	expect(told).toEqual([]);
	void space.look();
	await space.look(true);
	expect(told).toEqual([expect.stringContaining("is full")]);
});
