import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { describe, expect, it, onTestFinished } from "vitest";
import { readProcess } from "../../src/base/process-stat.js";
import { ROOT } from "../helpers/import-graph.js";

/** Says its pid and that of an orphan that ends at once, and then each signal that comes, until SIGTERM. */
const CHILD = `
	for one in HUP INT USR1 USR2; do trap "echo $one" $one; done
	trap 'exit 7' TERM
	echo "$$ $(sh -c '(exec sh -c "echo \\$\\$") & ')"
	while :; do sleep 0.02; done`;

describe.each([
	["python3", "-I", "-S", "reaper.py"],
	["perl", "reaper.pl"],
])("A1 the reaper in %s", (file, ...args) => {
	const begin = async (script: string) => {
		const options = args.slice(0, -1);
		const at = `${ROOT}/dist/reaper/${args.at(-1)}`;
		const reaper = spawn(file, [...options, at, "/bin/sh", "-c", script], {
			stdio: ["ignore", "pipe", "inherit"],
		});
		onTestFinished(() => void reaper.kill("SIGKILL"));
		const ended = new Promise((resolve) => reaper.on("close", resolve));
		const lines = createInterface(reaper.stdout)[Symbol.asyncIterator]();
		const line = async () => String((await lines.next()).value);
		return { reaper, ended, line };
	};

	it("reaps orphans, passes signals on, and ends with the exit code", async () => {
		const { reaper, ended, line } = await begin(CHILD);
		const [child, orphan] = (await line()).split(" ").map(Number);
		await expect
			.poll(() => readProcess(orphan ?? 0)?.state, { timeout: 20_000 })
			.toBeUndefined();
		expect(child).toBeGreaterThan(1);
		for (const name of ["HUP", "INT", "USR1", "USR2"] as const) {
			reaper.kill(`SIG${name}`);
			expect(await line()).toBe(name);
		}
		reaper.kill("SIGTERM");
		expect(await ended).toBe(7);
	});

	it("ends with 128 + n where a signal ends the program", async () => {
		const { ended } = await begin("kill -KILL $$");
		expect(await ended).toBe(137);
	});

	it("gives the program the signals that it had itself", async () => {
		const { line } = await begin("grep -E 'SigBlk|SigIgn' /proc/self/status");
		const own = readFileSync("/proc/self/status", "utf8");
		const blocked = /SigBlk:\s*(\w+)/.exec(own)?.[0];
		expect(await line()).toBe(blocked);
		expect(await line()).toMatch(/SigIgn:\s*0+$/);
	});
});
