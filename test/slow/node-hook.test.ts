// The hook in Node workers of the built command: docs/python.md.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { hookFile, sawHook } from "../helpers/hook.js";
import { type LaunchSite, openSite } from "../helpers/launch.js";
import { waitFor } from "../helpers/processes.js";

const FIXTURES = fileURLToPath(new URL("../fixtures/hook", import.meta.url));
const fixture = (name: string) => join(FIXTURES, name);

const BLOCKS = fixture("blocks.cjs");

it.each([
	[
		"spins",
		"spins",
		[`  at spins (${BLOCKS}:`, `  at <anonymous> (${BLOCKS}:`],
	],
	["waits for a cell", "waits", [`  at waits (${BLOCKS}:`]],
	[
		"only waits for events",
		"idles",
		[
			"the event loop waits: no JavaScript runs",
			"active resources: ",
			"Timeout",
		],
	],
	[
		"is in native code",
		"native",
		["the main thread does not answer: it is in native code"],
	],
])("tells what the main thread does that %s, each time that it is asked", async (_, how, expected) => {
	const site = openSite();
	const launch = site.launch([BLOCKS, how, site.release]);
	const { ready, hook } = await sawHook(site);
	expect(ready).toEqual({
		version: 1,
		kind: "node",
		pid: expect.any(Number),
		signal: null,
		torch_socket: null,
	});
	for (const number of [1, 2]) {
		writeFileSync(join(hook, "ask"), String(number));
		const answer = await answered(hook, number);
		for (const line of expected) expect(answer).toContain(line);
	}
	writeFileSync(site.release, "");
	const { exitCode, stdout, stderr } = await launch.ended;
	expect(exitCode).toBe(0);
	// No address of a debugger: no port is open.
	expect(stdout).toContain("ends with 0 undefined");
	expect(stderr).not.toMatch(/debugger/i);
});

it("is of the first process alone, and loaded by what the launcher runs under Node", async () => {
	const [parent, child, thread] = await tell([fixture("tells.cjs")]);
	expect(parent).toMatchObject({ owner: parent?.pid });
	expect(child).toMatchObject({ owner: parent?.pid });
	expect(thread).toMatchObject({ owner: parent?.pid, pid: parent?.pid });
	expect(child?.pid).not.toBe(parent?.pid);
});

it.each([
	"throws.cjs",
	"ends-at-once.cjs",
])("changes neither output nor exit code of %s", async (name) => {
	const outputOf = async (...flags: string[]) => {
		const site = openSite();
		const launch = site.launch([
			...flags,
			...["--max-restarts", "0", "--log-prefix", "worker: "],
			fixture(name),
		]);
		const { exitCode, stdout, stderr } = await launch.ended;
		const lines = `${stdout}${stderr}`
			.split("\n")
			.filter((line) => line.startsWith("worker: "));
		return { exitCode, lines };
	};
	expect(await outputOf()).toEqual(await outputOf("--no-hook"));
});

interface Told {
	readonly pid: number;
	readonly owner: number | null;
	readonly hook: string | null;
	readonly execArgv: readonly string[];
}

async function tell(
	words: readonly string[],
	site: LaunchSite = openSite(),
): Promise<readonly Told[]> {
	const launch = site.launch([
		...["--max-restarts", "0", "--redirects", "0", "--tee", "0"],
		...words,
	]);
	const { exitCode, stdout, stderr } = await launch.ended;
	expect(exitCode, stderr).toBe(0);
	return stdout
		.trim()
		.split("\n")
		.map((line): Told => JSON.parse(line));
}

/** The answer to this question, once it is whole. */
function answered(hook: string, question: number): Promise<string> {
	return waitFor(`the answer to question ${question}`, () => {
		const text = hookFile(hook, "stack.txt");
		const [, answer = ""] = text.split(`--- ${question}\n`);
		return answer.endsWith("\n") && answer;
	});
}
