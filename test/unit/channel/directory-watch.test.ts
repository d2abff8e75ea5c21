import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import {
	type OpenWatcher,
	watchDirectory,
} from "../../../src/channel/directory-watch.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";
import { temporaryDirectory } from "./samples.js";

it("looks again when something is written", async () => {
	const { directory, looks, clock } = start();
	writeFileSync(join(directory, "file"), "");
	await expect.poll(looks, { timeout: 20_000 }).toBeGreaterThan(0);
	expect(clock.now()).toBe(0);
});

it.each([
	"EMFILE: too many open files",
	"ENOSPC: no space left on device",
])("polls faster where the watcher says %s, and says so once", (message) => {
	const { clock, looks, warnings } = start(() => {
		throw new Error(message);
	});
	clock.pass(1_500);
	expect(looks()).toBe(10);
	expect(warnings).toEqual([
		expect.stringMatching(new RegExp(`each 150 ms.*${message}`)),
	]);
});

it("leaves nothing behind when it ends", () => {
	let closed = 0;
	const { clock, end, looks } = start(() => ({ close: () => closed++ }));
	end();
	clock.pass(5_000);
	expect(looks()).toBe(0);
	expect(closed).toBe(1);
	expect(clock.nextAlarm).toBeUndefined();
});

function start(openWatcher?: OpenWatcher) {
	const directory = temporaryDirectory();
	const clock = new VirtualClock(0);
	const warnings: string[] = [];
	let looks = 0;
	const end = watchDirectory(directory, () => looks++, {
		clock,
		warn: (warning) => warnings.push(warning),
		...(openWatcher && { openWatcher }),
	});
	onTestFinished(end);
	return { directory, clock, warnings, end, looks: () => looks };
}
