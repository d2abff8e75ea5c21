import { spawn } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { describe, expect, it, onTestFinished, type TestContext } from "vitest";
import { readProcess } from "../../src/base/process-stat.js";
import { ROOT } from "../helpers/import-graph.js";
import { openSite } from "../helpers/launch.js";
import { asProcess1 } from "../helpers/machine.js";
import { signalProcess, waitFor } from "../helpers/processes.js";

/** Leaves two orphans, waits until both have ended, and goes on. */
const LEAVES_ORPHANS = `for one in 1 2; do (sh -c 'echo > "ended-$1"' sh $one &); done
	while [ ! -s ended-1 ] || [ ! -s ended-2 ]; do sleep 0.05; done
	trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done`;

/** The processes in the pid namespace of this one that have ended and that nobody has reaped. */
function zombiesBeside(pid: number): readonly number[] {
	const namespace = namespaceOf(pid);
	return readdirSync("/proc")
		.map(Number)
		.filter((one) => Number.isInteger(one) && namespaceOf(one) === namespace)
		.filter((one) => readProcess(one)?.state === "Z");
}

function namespaceOf(pid: number): string | undefined {
	try {
		return readlinkSync(`/proc/${pid}/ns/pid`);
	} catch {
		return undefined;
	}
}

function childOf(pid: number): number {
	const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
	return Number.parseInt(children, 10);
}

/** Its orphans have ended; its process 1. */
async function launchAsProcess1(context: TestContext) {
	const site = openSite();
	const launch = site.launch(["sh", "-c", LEAVES_ORPHANS], {
		through: asProcess1(context),
	});
	await launch.saw("stdout", "ready");
	return { site, launch, process1: childOf(launch.pid) };
}

async function reapsOrphans(process1: number): Promise<void> {
	await waitFor(
		"the orphans to be reaped",
		() => zombiesBeside(process1).length === 0,
	);
}

it("a launcher that is process 1 leaves no zombie of an orphan, and at SIGTERM ends in order with 143", async (context) => {
	const { launch, process1 } = await launchAsProcess1(context);
	await reapsOrphans(process1);
	expect(launch.output.stderr).not.toContain("this launcher is process 1");
	signalProcess(process1, "SIGTERM");
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(143);
	expect(stderr).toContain("SIGTERM");
});

it("A1 a launcher that is killed ends the container with it", async (context) => {
	const { site, launch, process1 } = await launchAsProcess1(context);
	signalProcess(childOf(childOf(process1)), "SIGKILL");
	expect((await launch.ended).exitCode).toBe(137);
	// With its guard nobody is left who would remove it.
	rmSync(site.channels, { recursive: true });
});

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
