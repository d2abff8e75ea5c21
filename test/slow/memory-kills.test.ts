import {
	existsSync,
	mkdirSync,
	readFileSync,
	rmdirSync,
	writeFileSync,
} from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { openSite } from "../helpers/launch.js";

const LIMIT_BYTES = 300 * 1024 * 1024;

/** A control group below one with little memory, as a container in a pod; undefined where none can be made. */
function smallGroup(): string | undefined {
	const membership = readFileSync("/proc/self/cgroup", "utf8");
	const own = /^\d+:memory:(.*)$/m.exec(membership)?.[1];
	const whole = /^0::(.*)$/m.exec(membership)?.[1];
	const [top, limit] =
		own === undefined
			? [`/sys/fs/cgroup${whole}`, "memory.max"]
			: [`/sys/fs/cgroup/memory${own}`, "memory.limit_in_bytes"];
	const parent = `${top}/elastic-run-test-${process.pid}`;
	const group = `${parent}/own`;
	try {
		mkdirSync(group, { recursive: true });
		onTestFinished(() => {
			remove(group);
			remove(parent);
		});
		writeFileSync(`${parent}/${limit}`, String(LIMIT_BYTES));
		return group;
	} catch {
		return undefined;
	}
}

function remove(group: string): void {
	try {
		rmdirSync(group);
	} catch {
		// What ends at this moment is still in it.
	}
}

/** A launcher in such a group, whose worker's child takes all memory. */
function launchIn(flags: readonly string[], after: string) {
	const group = smallGroup();
	if (group === undefined || !existsSync(`${group}/cgroup.procs`)) return;
	const enter = `echo $$ > '${group}/cgroup.procs' && exec "$@"`;
	const worker = `echo step 1; sleep 1; echo step 2; sleep 1; tail /dev/zero; ${after}`;
	return openSite().launch(
		[...flags, "--max-restarts", "0", "sh", "-c", worker],
		{
			through: ["sh", "-c", enter, "sh"],
		},
	);
}

const KILLED =
	/in this round the kernel has killed 1 of the control group's processes for lack of memory/;

test("K9 a worker that fails after its helper was killed for memory says so", async (context) => {
	const launch = launchIn([], "exit 1");
	if (launch === undefined) return context.skip("no control group can be made");
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(1);
	expect(stderr).toMatch(KILLED);
});

test("K9 so does the verdict on one that waits for it for ever", async (context) => {
	const flags = ["--hang-timeout", "5", "--step-pattern", "step (\\d+)"];
	const launch = launchIn(flags, "sleep 1000");
	if (launch === undefined) return context.skip("no control group can be made");
	const { stderr } = await launch.ended;
	expect(stderr).toMatch(/hung for/);
	expect(stderr).toMatch(KILLED);
});
