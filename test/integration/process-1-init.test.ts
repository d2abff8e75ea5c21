import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { readProcess } from "../../src/base/process-stat.js";
import { openSite } from "../helpers/launch.js";
import { asProcess1 } from "../helpers/machine.js";
import { waitFor } from "../helpers/processes.js";

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

describe("a launcher under the init that the docs name, which is process 1", () => {
	it("leaves no zombie of an orphan, and at SIGTERM to process 1 ends in order with 143", async (context) => {
		const init = initOf(context);
		const site = openSite();
		const launch = site.launch(["sh", "-c", LEAVES_ORPHANS], {
			through: [...asProcess1(context), init, "--"],
		});
		await launch.saw("stdout", "ready");
		const children = `/proc/${launch.pid}/task/${launch.pid}/children`;
		const process1 = Number.parseInt(readFileSync(children, "utf8"), 10);
		await waitFor(
			"the orphans to be reaped",
			() => zombiesBeside(process1).length === 0,
		);
		expect(launch.output.stderr).not.toContain("this launcher is process 1");
		process.kill(process1, "SIGTERM");
		const { exitCode, stderr } = await launch.ended;
		expect(exitCode).toBe(143);
		expect(stderr).toContain("SIGTERM");
	});
});
