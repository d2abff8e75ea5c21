import { execFileSync } from "node:child_process";
import { describe, expect, it, type TestContext } from "vitest";
import { CLI } from "../helpers/cli.js";
import { type Launch, openSite } from "../helpers/launch.js";
import { endProcess, isAlive, waitFor } from "../helpers/processes.js";

const CTRL_C = "\x03";
const CTRL_Z = "\x1a";

describe("a worker that dies of a real-time signal", () => {
	const DIES = "kill -35 $$";

	it("looks as if it had succeeded: Node tells these signals from exit code 0 in no way", async () => {
		const { ended } = openSite().launch(["sh", "-c", DIES]);
		const { exitCode, stderr } = await ended;
		expect(exitCode).toBe(0);
		expect(stderr).toContain("succeeded: 1 round");
	});

	it("has failed where a shell waits for it", async () => {
		const { ended } = openSite().launch([
			...["--max-restarts", "0"],
			...["sh", "-c", `sh -c '${DIES}'; exit $?`],
		]);
		const { exitCode, stderr } = await ended;
		expect(exitCode).toBe(1);
		expect(stderr).toContain(
			"exit code 163 (real-time signal 35 reported by a shell)",
		);
	});
});

describe("at a terminal", () => {
	const STUBBORN =
		"trap 'echo told INT' INT; trap 'echo told TERM' TERM; echo worker=$$; while :; do sleep 0.05; done";

	/** The launcher behind a terminal of its own, all that it prints on stdout, once its worker is ready. */
	async function startAtTerminal(
		context: TestContext,
	): Promise<{ terminal: Launch; worker: number }> {
		skipWithoutScript(context);
		const command = `${process.execPath} ${CLI} --shutdown-timeout 120 sh -c "${STUBBORN.replace("$$", "\\$\\$")}"`;
		const terminal = openSite().start(
			"script",
			["--quiet", "--return", "--command", command, "/dev/null"],
			{ stdin: true, env: { SHELL: "/bin/sh" } },
		);
		const worker = await waitFor(
			"the worker's pid",
			() => /worker=(\d+)\s/.exec(terminal.output.stdout)?.[1],
		);
		return { terminal, worker: Number(worker) };
	}

	it("Ctrl-C stops the workers, who are told once, and a second one kills them", async (context) => {
		const { terminal, worker } = await startAtTerminal(context);
		terminal.type(CTRL_C);
		await terminal.saw("stdout", "told INT");
		expect(isAlive(worker)).toBe(true);
		await typeUntilKilled(terminal);
		const { exitCode, stdout } = await terminal.ended;
		expect(exitCode).toBe(130);
		expect(stdout).toContain("SIGINT: killing the workers");
		expect(stdout.match(/told INT/g)).toHaveLength(1);
		expect(stdout).not.toContain("told TERM");
		expect(isAlive(worker)).toBe(false);
	});

	it("Ctrl-Z is refused, and stops neither launcher nor worker", async (context) => {
		const { terminal, worker } = await startAtTerminal(context);
		terminal.type(CTRL_Z);
		await terminal.saw("stdout", "suspending is not supported; going on");
		endProcess(worker);
		await waitFor("the worker of round 2", () => {
			const { stdout } = terminal.output;
			return stdout.match(/worker=\d/g)?.length === 2;
		});
		terminal.type(CTRL_C);
		await terminal.saw("stdout", "told INT");
		await typeUntilKilled(terminal);
		expect((await terminal.ended).exitCode).toBe(130);
	});
});

/** The same signal within a second of the first one is no second wish. */
async function typeUntilKilled(terminal: Launch): Promise<void> {
	await waitFor("the second wish", () => {
		terminal.type(CTRL_C);
		return terminal.output.stdout.includes("SIGINT: killing");
	});
}

function skipWithoutScript(context: TestContext): void {
	try {
		execFileSync("script", ["--version"], { stdio: "ignore" });
	} catch {
		context.skip("no script(1) of util-linux, which makes a terminal");
	}
}
