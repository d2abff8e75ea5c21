import {
	closeSync,
	constants,
	existsSync,
	openSync,
	readFileSync,
	writeSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { systemErrorCode } from "../../src/base/errors.js";
import { CLI } from "../helpers/cli.js";
import { job, openSite } from "../helpers/launch.js";
import { signalProcess, textIn, waitFor } from "../helpers/processes.js";
import { HAS_TERMINALS, onTerminal } from "../helpers/terminal.js";
import { sideBySide } from "../helpers/this-test.js";
import { together } from "../helpers/together.js";

const CTRL_C = "\x03";

const readIfThere = (path: string) =>
	existsSync(path) ? readFileSync(path, "utf8") : "";

/** Writes until a pipe takes nothing more. */
function fill(pipe: string): void {
	const fd = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
	const bytes = Buffer.alloc(4096, "\n");
	try {
		for (;;) writeSync(fd, bytes);
	} catch (error) {
		expect(systemErrorCode(error)).toBe("EAGAIN");
	} finally {
		closeSync(fd);
	}
}

describe("a signal to the launcher", { concurrent: true }, () => {
	sideBySide();

	it.skipIf(process.platform !== "linux")(
		"each counts where nobody reads its console, to which workers write by themselves",
		async () => {
			const site = openSite();
			const pipe = join(site.path, "pipe");
			const pidFile = join(site.path, "pid");
			const codeFile = join(site.path, "code");
			// The pipe's reader reads nothing.
			const lines = [
				`mkfifo '${pipe}'; sleep 600 <'${pipe}' & reader=$!`,
				`"$@" >'${pipe}' 2>&1 & echo $! >'${pidFile}'; wait $!`,
				`echo $? >'${codeFile}'; kill $reader`,
			];
			const through = ["sh", "-c", lines.join("\n"), "sh"];
			const flags = ["--run-id", "unread", "--redirects", "0", "--tee", "0"];
			const launch = site.launch([...flags, "sleep", "600"], { through });
			const pid = Number(await textIn(pidFile));
			const log = join(site.logs, "unread/latest/node-a/agent.log");
			const logged = (words: string) =>
				waitFor(words, () => readIfThere(log).includes(words));
			await logged("started 1 of 1 workers");
			// Workers find it as it was.
			const stdout = readFileSync(`/proc/${pid}/fdinfo/1`, "utf8");
			const [, mode = ""] = /^flags:\s+(\d+)$/m.exec(stdout) ?? [];
			expect(Number.parseInt(mode, 8) & constants.O_NONBLOCK).toBe(0);
			fill(pipe);
			signalProcess(pid, "SIGTERM");
			await logged("STOPPING→CLOSED");
			signalProcess(pid, "SIGINT");
			expect(await textIn(codeFile)).toBe("143\n");
			await launch.ended;
			await site.isSwept();
		},
	);

	it("that is not to be handled ends the launcher, and its guard ends the workers", async () => {
		const site = openSite();
		const launch = site.launch([
			...["--signals-to-handle", "SIGTERM", job("spawns-grandchild.js")],
		]);
		await site.sawWorkers(1);
		launch.signal("SIGINT");
		expect((await launch.ended).signal).toBe("SIGINT");
		await site.isSwept();
	});

	it("ends the run at whatever moment of its restarts", () => {
		const stopIn = async (round: number) => {
			const site = openSite();
			const launch = site.launch([
				...["--nproc-per-node", "2", "--max-restarts", "100000"],
				...["--max-identical-failures", "0", "--restart-delay", "0"],
				job("fails-at-once.sh"),
			]);
			await launch.saw("stderr", `RUNNING round ${round}:`);
			launch.signal("SIGTERM");
			expect((await launch.ended).exitCode).toBe(143);
			await site.isSwept();
		};
		// At the same time, which spreads the moments.
		return together(
			Object.fromEntries(
				[2, 3, 4, 2, 3, 4].map((round, index) => [
					`launch ${index}, in round ${round}`,
					() => stopIn(round),
				]),
			),
		);
	});
});

describe("an interrupt", () => {
	it("at any moment of the start leaves no process and no directory", async () => {
		const site = openSite();
		const seen = [];
		for (let delayMs = 0; delayMs < 480; delayMs += 60) {
			const launch = site.launch([
				...["--nproc-per-node", "2", job("works.js")],
			]);
			// The moments are spread over the start; whichever are met, the end is the same.
			await pause(delayMs);
			launch.signal("SIGINT");
			const { exitCode, signal } = await launch.ended;
			seen.push(signal ?? exitCode);
			await site.isSwept();
		}
		expect(seen.filter((end) => end !== 130 && end !== "SIGINT")).toEqual([]);
	});
});

it.skipIf(!HAS_TERMINALS)(
	"Ctrl-C on a terminal stops gracefully, and kills at once when it is pressed twice",
	async () => {
		const site = openSite();
		const args = ["--shutdown-timeout", "1h", job("ignores-sigterm.js")];
		const command = [process.execPath, CLI, ...args].join(" ");
		const terminal = onTerminal(site, command, { TERM: "dumb" });
		await site.sawWorkers(1);
		terminal.type(CTRL_C);
		await terminal.saw("stdout", "SIGINT ignored");
		expect(terminal.output.stdout).toContain("SIGINT: stopping the workers");
		// The same signal within a second of the first one is no second wish.
		await waitFor("the second wish", () => {
			terminal.type(CTRL_C);
			return terminal.output.stdout.includes("SIGINT: killing");
		});
		expect((await terminal.ended).exitCode).toBe(130);
		await site.isSwept();
	},
);
