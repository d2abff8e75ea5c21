import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { readProcess } from "../../src/base/process-stat.js";
import { CLI } from "../helpers/cli.js";
import { job, openSite, type WorkerRecord } from "../helpers/launch.js";
import { signalProcess, textIn, waitFor } from "../helpers/processes.js";
import { HAS_TERMINALS, onTerminal } from "../helpers/terminal.js";

const LAUNCHER = `${process.execPath} ${CLI}`;

/** What a worker has printed: its file lies beside that of its error. */
function printed(worker: WorkerRecord | undefined): string {
	const directory = dirname(worker?.env.TORCHELASTIC_ERROR_FILE ?? "");
	return readFileSync(join(directory, "stdout.log"), "utf8");
}

/** Ends the launcher of a worker as the kernel or a shell does. */
function signalLauncher(pid = 0, signal: NodeJS.Signals): void {
	const launcher = readProcess(pid)?.parentId ?? 0;
	expect(launcher).toBeGreaterThan(1);
	signalProcess(launcher, signal);
}

describe.skipIf(!HAS_TERMINALS)("a terminal", () => {
	// Lines that stay in view, and none.
	describe.each(["xterm", "dumb"])("of the kind %s", (TERM) => {
		it("that is closed stops the workers with SIGHUP", async () => {
			const site = openSite();
			const result = join(site.path, "result");
			// Of a terminal's processes the kernel tells the first one alone.
			const command = `exec ${LAUNCHER} --output json ${job("tells-signals.js")} > ${result}`;
			const terminal = onTerminal(site, command, { TERM });
			const [worker] = await site.sawWorkers(1);
			terminal.signal("SIGKILL");
			await site.isSwept();
			expect(printed(worker)).toBe("worker got SIGHUP\n");
			expect(JSON.parse(await textIn(result))).toMatchObject({ exitCode: 129 });
		});

		it("that is closed does not cost the launcher its exit code", async () => {
			const site = openSite();
			const code = join(site.path, "code");
			// The shell, the first process, passes the hangup on, and hears how the launcher ends.
			const command = [
				`trap 'kill -HUP $!' HUP`,
				`${LAUNCHER} ${job("tells-signals.js")} & wait $!; wait $!; echo $? > ${code}`,
			].join("; ");
			const terminal = onTerminal(site, command, { TERM });
			await site.sawWorkers(1);
			terminal.signal("SIGKILL");
			await site.isSwept();
			expect(await textIn(code)).toBe("129\n");
		});

		it("that is stopped does not stop the launcher", async () => {
			const site = openSite();
			const command = `${LAUNCHER} ${job("prints-and-fails.js")}`;
			const terminal = onTerminal(site, command, { TERM });
			await site.sawWorkers(1, 1);
			terminal.signal("SIGSTOP");
			writeFileSync(site.release, "");
			await site.sawWorkers(1, 2);
			terminal.signal("SIGCONT");
			const { exitCode, stdout } = await terminal.ended;
			expect(exitCode).toBe(0);
			expect(stdout.match(/x{99}/g)).toHaveLength(10_000);
		});
	});

	it.each([
		["by nohup", "/bin/bash", `nohup ${LAUNCHER}`],
		["by nohup of a shell that tells nothing", "/bin/sh", `nohup ${LAUNCHER}`],
		["by one that ignores SIGHUP", "/bin/bash", `trap "" HUP; ${LAUNCHER}`],
	])("may be closed where it was started %s", async (_, SHELL, launcher) => {
		const site = openSite();
		const words = join(site.path, "words");
		const command = `${launcher} ${job("tells-signals.js")} > ${words} 2>&1; exit`;
		const terminal = onTerminal(site, command, {
			...{ SHELL, TERM: "xterm" },
		});
		const [worker] = await site.sawWorkers(1);
		signalLauncher(worker?.pid, "SIGHUP");
		await waitFor("the launcher's word", () =>
			readFileSync(words, "utf8").includes("SIGHUP is ignored"),
		);
		terminal.signal("SIGKILL");
		await terminal.ended;
		expect(site.livingProcesses()).toEqual([worker?.pid]);
		signalLauncher(worker?.pid, "SIGTERM");
		await site.isSwept();
		expect(printed(worker)).toBe("worker got SIGTERM\n");
	});
});
