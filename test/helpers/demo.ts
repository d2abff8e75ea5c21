import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFailed, onTestFinished } from "vitest";
import { example } from "../fixtures/checkpoint-examples.js";
import { poll } from "./etcd-gateway.js";
import type { Launch, LaunchOptions, LaunchSite } from "./launch.js";
import { isAlive, waitFor } from "./processes.js";

const BOUND_MS = 180_000;

/** Starts one of the demos in examples/. */
export function startDemo(
	site: LaunchSite,
	[name, ...args]: readonly [name: string, ...args: string[]],
	options: LaunchOptions = {},
): Launch {
	const words = [example(name), ...args];
	const demo = site.start(process.execPath, words, options);
	onTestFailed(() => console.log(demo.output));
	// One that is killed leaves its agents.
	onTestFinished(async () => {
		if (demo.hasEnded) return;
		demo.signal("SIGINT");
		await demo.ended;
	});
	return demo;
}

/** Waits until a demo has printed a text; on a busy machine its story takes its time. */
export async function told(demo: Launch, text: string): Promise<void> {
	await poll(`"${text}"`, BOUND_MS, async () =>
		demo.output.stdout.includes(text) || demo.hasEnded ? true : undefined,
	);
	expect(demo.output.stdout).toContain(text);
}

/** Waits until no process of a demo is left, and checks that nothing is on the disk. */
export async function nothingIsLeft(site: LaunchSite): Promise<void> {
	await waitFor(
		"all processes of the demo to be gone",
		() => processesOf(site).length === 0,
	);
	expect(readdirSync(site.temporary)).toEqual([]);
	expect(site.channelDirectories()).toEqual([]);
}

/** Every process that was started for this site, by what it was started with. */
function processesOf({ path }: LaunchSite): readonly string[] {
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name) && isAlive(Number(name)))
		.filter((pid) =>
			["cmdline", "environ"].some((file) =>
				textOf(join("/proc", pid, file)).includes(path),
			),
		);
}

function textOf(file: string): string {
	try {
		return readFileSync(file, "utf8");
	} catch {
		return "";
	}
}
