import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { readProcess } from "../../src/base/process-stat.js";
import { openSite } from "../helpers/launch.js";
import { asProcess1 } from "../helpers/machine.js";
import { signalProcess, waitFor } from "../helpers/processes.js";

/** Leaves two orphans, waits until both have ended, and goes on. */
const LEAVES_ORPHANS = `for one in 1 2; do (sh -c 'echo > "ended-$1"' sh $one &); done
	while [ ! -s ended-1 ] || [ ! -s ended-2 ]; do sleep 0.05; done
	trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done`;

/** `tini`, or the copy of it that docker brings for `docker run --init`. */
function initOf(context: TestContext): string {
	const init = (process.env.PATH ?? "")
		.split(":")
		.flatMap((bin) => [join(bin, "tini"), join(bin, "docker-init")])
		.find((file) => existsSync(file));
	return init ?? context.skip("neither tini nor docker-init is on PATH");
}

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
async function launchAsProcess1(
	context: TestContext,
	init: readonly string[] = [],
) {
	const site = openSite();
	const launch = site.launch(["sh", "-c", LEAVES_ORPHANS], {
		through: [...asProcess1(context), ...init],
	});
	await launch.saw("stdout", "ready");
	return { launch, process1: childOf(launch.pid) };
}

async function reapsOrphans(process1: number): Promise<void> {
	await waitFor(
		"the orphans to be reaped",
		() => zombiesBeside(process1).length === 0,
	);
}

describe.each([
	["itself, which is process 1", () => []],
	[
		"under the init that the docs name",
		(context: TestContext) => [initOf(context), "--"],
	],
])("a launcher %s", (_, init) => {
	it("leaves no zombie of an orphan, and at SIGTERM to process 1 ends in order with 143", async (context) => {
		const { launch, process1 } = await launchAsProcess1(context, init(context));
		await reapsOrphans(process1);
		expect(launch.output.stderr).not.toContain("this launcher is process 1");
		signalProcess(process1, "SIGTERM");
		const { exitCode, stderr } = await launch.ended;
		expect(exitCode).toBe(143);
		expect(stderr).toContain("SIGTERM");
	});
});

it("A1 a launcher that is killed ends the container with it", async (context) => {
	const { launch, process1 } = await launchAsProcess1(context);
	signalProcess(childOf(childOf(process1)), "SIGKILL");
	expect((await launch.ended).exitCode).toBe(137);
});
