import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
	installDoorbells,
	listenToDoorbell,
	ringDoorbell,
} from "../../../src/channel/doorbell.js";
import { temporaryDirectory } from "./samples.js";

const SOON = { timeout: 20_000 };

describe.skipIf(process.platform !== "linux")("a doorbell", () => {
	it("is heard each time, by everybody who listens", async () => {
		const path = await installed();
		const [one, other] = [listen(path), listen(path)];
		for (const times of [1, 2, 3]) {
			ringDoorbell(path);
			await expect.poll(one.rings, SOON).toBe(times);
			await expect.poll(other.rings, SOON).toBe(times);
		}
	});

	it("does without where one of many cannot be made", async () => {
		const directory = temporaryDirectory();
		const path = join(directory, "doorbell");
		installDoorbells([join(directory, "gone", "doorbell"), path]);
		await expect.poll(() => existsSync(path), SOON).toBe(true);
	});
});

it("may be missing: nobody hears it, and ringing does nothing", () => {
	const path = join(temporaryDirectory(), "doorbell");
	expect(listenToDoorbell(path, () => {})).toBeUndefined();
	expect(() => ringDoorbell(path)).not.toThrow();
});

async function installed(): Promise<string> {
	const path = join(temporaryDirectory(), "doorbell");
	installDoorbells([path]);
	await expect.poll(() => existsSync(path), SOON).toBe(true);
	return path;
}

function listen(path: string) {
	let rings = 0;
	const hearing = listenToDoorbell(path, () => {
		rings += 1;
	});
	if (hearing === undefined) throw new Error(`nothing to hear at ${path}`);
	const close = () => hearing.close();
	onTestFinished(close);
	return { rings: () => rings, close };
}
