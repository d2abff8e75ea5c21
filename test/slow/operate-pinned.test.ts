import { expect, it, type TestContext } from "vitest";
import { CLI } from "../helpers/cli.js";
import { job, openSite } from "../helpers/launch.js";
import { HAS_TERMINALS, onTerminal, screenAfter } from "../helpers/terminal.js";

const CLEAR_BELOW = "\u001b[J";

/** Runs the launcher behind a terminal of its own to its end; all that came to the terminal. */
async function atTerminal(
	context: TestContext,
	flags: string,
	env: Readonly<Record<string, string>>,
): Promise<string> {
	if (!HAS_TERMINALS) {
		context.skip("no script(1) of util-linux, which makes a terminal");
	}
	const command = `${process.execPath} ${CLI} ${flags} ${job("fails-in-round-1.js")}`;
	const { stdout, exitCode } = await onTerminal(openSite(), command, env).ended;
	expect(exitCode).toBe(0);
	return stdout;
}

it("keeps round, ranks and the last incident in view at a terminal, and leaves nothing of it behind", async (context) => {
	const flags = "--nproc-per-node 2 --run-id seen";
	const text = await atTerminal(context, flags, { TERM: "xterm" });
	expect(text).toMatch(
		/seen on node-a: round 2 runs: ranks 0-1 of 2, on 1 node, since \d\d:/,
	);
	expect(text).toMatch(/last incident: rank 1 on node-a: exit code 5, round 1/);
	const left = screenAfter(text).join("\n");
	expect(left).toContain("RUNNING→STOPPING rank 1 failed: exit code 5");
	expect(left).toContain("run seen succeeded: 2 rounds, 1 restart");
	expect(left).not.toContain("seen on node-a: round");
});

it.for<[string, string, { TERM: string }]>([
	["where the log is JSON", "--log-format json", { TERM: "xterm" }],
	["where workers write by themselves", "-r 0 -t 0", { TERM: "xterm" }],
])("keeps nothing in view at a terminal: %s", async ([
	,
	flags,
	env,
], context) => {
	const text = await atTerminal(context, `--nproc-per-node 2 ${flags}`, env);
	expect(text).not.toContain(CLEAR_BELOW);
});
