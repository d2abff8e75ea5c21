import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PYTHON } from "../fixtures/python/start-python.js";
import { CLI } from "../helpers/cli.js";
import { openSite } from "../helpers/launch.js";
import { HAS_TERMINALS, onTerminal } from "../helpers/terminal.js";

/** A second interrupt would end it before it has saved. */
const SAVES = `
import time
try:
    print("ready", flush=True)
    while True:
        time.sleep(0.05)
except KeyboardInterrupt:
    time.sleep(0.5)
    print("saved", flush=True)
`;

const trapping = (...signals: readonly string[]) =>
	[
		...signals.map((name) => `trap 'echo heard ${name}' ${name}`),
		"trap 'echo heard TERM; exit 1' TERM",
		"echo ready; while :; do sleep 0.05; done",
	].join("\n");

describe.skipIf(!HAS_TERMINALS)("Ctrl-C on a terminal", () => {
	it("reaches a Python worker once, as SIGINT: it saves", async () => {
		const site = openSite();
		writeFileSync(join(site.path, "saves.py"), SAVES);
		const command = `${process.execPath} ${CLI} --restart-policy soft --no-node --nproc-per-node 2 ${PYTHON} saves.py`;
		const terminal = onTerminal(site, command, { TERM: "dumb", NO_COLOR: "1" });
		for (const rank of [0, 1])
			await terminal.saw("stdout", `[node-a ${rank}] ready`);
		terminal.type("\u0003");
		const { exitCode, stdout } = await terminal.ended;
		expect(exitCode).toBe(130);
		for (const rank of [0, 1])
			expect(stdout).toContain(`[node-a ${rank}] saved`);
		expect(stdout).not.toContain("Traceback");
	});
});

it("a worker that goes on after SIGINT gets SIGTERM at half of its time", async () => {
	const site = openSite();
	const launch = site.launch([
		...["--shutdown-timeout", "2", "sh", "-c", trapping("INT")],
	]);
	await launch.saw("stdout", "ready");
	launch.signal("SIGINT");
	const { exitCode, stdout, stderr } = await launch.ended;
	expect(exitCode, stderr).toBe(130);
	expect(stdout.match(/heard \w+/g)).toEqual(["heard INT", "heard TERM"]);
	expect(stderr).not.toContain("SIGKILL");
});

it("a signal that is named in --signals-to-handle goes to the workers as it is", async () => {
	const site = openSite();
	const launch = site.launch([
		...["--signals-to-handle", "usr2", "--shutdown-timeout", "2"],
		...["sh", "-c", trapping("USR2")],
	]);
	await launch.saw("stdout", "ready");
	launch.signal("SIGUSR2");
	const { exitCode, stdout } = await launch.ended;
	expect(exitCode).toBe(128 + 12);
	expect(stdout.match(/heard \w+/g)).toEqual(["heard USR2", "heard TERM"]);
});

it("a second signal kills at once", async () => {
	const launch = openSite().launch([
		...[
			"sh",
			"-c",
			"trap '' INT TERM; echo ready; while :; do sleep 0.1; done",
		],
	]);
	await launch.saw("stdout", "ready");
	launch.signal("SIGINT");
	await launch.saw("stderr", "SIGINT: stopping the workers");
	launch.signal("SIGTERM");
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(130);
	expect(stderr).toContain("SIGTERM: killing the workers\n");
});
