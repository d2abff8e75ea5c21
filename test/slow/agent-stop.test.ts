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
import { job, type LaunchSite, openSite } from "../helpers/launch.js";
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

	it.each([
		["SIGTERM", 143],
		["SIGINT", 130],
		["SIGHUP", 129],
		["SIGQUIT", 131],
	] as const)("%s goes to the workers, and it exits with %i", async (signal, code) => {
		const site = openSite();
		const launch = site.launch([
			"--nproc-per-node",
			"2",
			job("tells-signals.js"),
		]);
		await site.sawWorkers(2);
		launch.signal(signal);
		const end = await launch.ended;
		expect([end.exitCode, end.signal]).toEqual([code, null]);
		expect(end.stdout.trimEnd().split("\n").sort()).toEqual([
			`[node-a 0] worker got ${signal}`,
			`[node-a 1] worker got ${signal}`,
		]);
		await site.isSwept();
	});

	it("reaches the children of workers, in whatever group they are", async () => {
		const site = openSite();
		const launch = site.launch([job("spawns-grandchild.js")]);
		await site.sawWorkers(1);
		expect(site.livingProcesses()).toHaveLength(3);
		launch.signal("SIGTERM");
		expect((await launch.ended).exitCode).toBe(143);
		await site.isSwept();
	});

	it("kills who ignores SIGTERM after the shutdown time-out", async () => {
		const site = openSite();
		const launch = site.launch([
			...["--shutdown-timeout", "300ms", job("ignores-sigterm.js")],
		]);
		await site.sawWorkers(1);
		launch.signal("SIGTERM");
		const { exitCode, stderr } = await launch.ended;
		expect(stderr).toContain("SIGKILL: the time to end is over");
		expect(exitCode).toBe(143);
		await site.isSwept();
	});

	it("kills at once when it is the second", async () => {
		const site = openSite();
		const launch = site.launch([
			...["--shutdown-timeout", "1h", job("ignores-sigterm.js")],
		]);
		await site.sawWorkers(1);
		launch.signal("SIGTERM");
		await launch.saw("stdout", "SIGTERM ignored");
		launch.signal("SIGINT");
		const { exitCode, stderr } = await launch.ended;
		expect(stderr).toContain("SIGINT: killing the workers");
		expect(exitCode).toBe(143);
		await site.isSwept();
	});

	describe("when nobody reads its console", () => {
		/** Its stdout goes to a pipe with a reader that reads nothing; it leaves its pid and exit code in files. */
		function unread(site: LaunchSite, redirection: string) {
			const file = (name: string) => join(site.path, name);
			const lines = [
				`mkfifo '${file("pipe")}'; sleep 600 <'${file("pipe")}' & reader=$!`,
				`"$@" >'${file("pipe")}' ${redirection} & echo $! >'${file("pid")}'; wait $!`,
				`echo $? >'${file("code")}'; kill $reader`,
			];
			return { file, through: ["sh", "-c", lines.join("\n"), "sh"] };
		}

		it("the second ends the launcher", async () => {
			const site = openSite();
			const { file, through } = unread(site, "");
			const printed = file("printed");
			const worker = `yes | head -c 300000; echo all >'${printed}'; sleep 600`;
			const launch = site.launch(["sh", "-c", worker], { through });
			const pid = Number(await textIn(file("pid")));
			await textIn(printed);
			signalProcess(pid, "SIGTERM");
			// Its lines are waited for: they are more than the pipe takes.
			await launch.saw("stderr", "STOPPING→CLOSED");
			signalProcess(pid, "SIGINT");
			expect(await textIn(file("code"))).toBe("143\n");
			expect((await launch.ended).stderr).toContain("left: SIGTERM");
			await site.isSwept();
		});

		it.skipIf(process.platform !== "linux")(
			"and workers write there by themselves, each counts all the same",
			async () => {
				const site = openSite();
				const { file, through } = unread(site, "2>&1");
				const launch = site.launch(
					[
						...["--run-id", "unread", "--redirects", "0", "--tee", "0"],
						...["sleep", "600"],
					],
					{ through },
				);
				const pid = Number(await textIn(file("pid")));
				const log = join(site.logs, "unread/latest/node-a/agent.log");
				const logged = (words: string) =>
					waitFor(words, () => readIfThere(log).includes(words));
				await logged("started 1 of 1 workers");
				// Workers find it as it was.
				const [, flags] =
					/^flags:\s+(\d+)$/m.exec(
						readFileSync(`/proc/${pid}/fdinfo/1`, "utf8"),
					) ?? [];
				expect(Number.parseInt(flags ?? "", 8) & constants.O_NONBLOCK).toBe(0);
				fill(file("pipe"));
				signalProcess(pid, "SIGTERM");
				await logged("STOPPING→CLOSED");
				signalProcess(pid, "SIGINT");
				expect(await textIn(file("code"))).toBe("143\n");
				await launch.ended;
				await site.isSwept();
			},
		);
	});

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
				[2, 3, 4, 2, 3, 4, 2, 3, 4].map((round, index) => [
					`launch ${index}, in round ${round}`,
					() => stopIn(round),
				]),
			),
		);
	});
});

describe("a signal to the launcher", () => {
	it("at any moment of the start leaves no process and no directory", async () => {
		const site = openSite();
		const seen = [];
		for (let delayMs = 0; delayMs < 480; delayMs += 40) {
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

describe.skipIf(!HAS_TERMINALS)(
	"Ctrl-C on a terminal",
	{
		concurrent: true,
	},
	() => {
		sideBySide();

		const launchOnTerminal = (args: readonly string[]) => {
			const site = openSite();
			const command = [process.execPath, CLI, ...args].join(" ");
			return { site, terminal: onTerminal(site, command, { TERM: "dumb" }) };
		};

		it("is one graceful stop, which workers see as one SIGINT", async () => {
			const { site, terminal } = launchOnTerminal([job("tells-signals.js")]);
			await site.sawWorkers(1);
			terminal.type(CTRL_C);
			const { exitCode, stdout } = await terminal.ended;
			expect(exitCode).toBe(130);
			expect(stdout.match(/SIGINT: stopping the workers/g)).toHaveLength(1);
			expect(stdout).not.toContain("killing the workers");
			expect(stdout.match(/worker got \w+/g)).toEqual(["worker got SIGINT"]);
			await site.isSwept();
		});

		it("kills at once when it is pressed twice", async () => {
			const { site, terminal } = launchOnTerminal([
				...["--shutdown-timeout", "1h", job("ignores-sigterm.js")],
			]);
			await site.sawWorkers(1);
			terminal.type(CTRL_C);
			await terminal.saw("stdout", "SIGINT ignored");
			// The same signal within a second of the first one is no second wish.
			await waitFor("the second wish", () => {
				terminal.type(CTRL_C);
				return terminal.output.stdout.includes("SIGINT: killing");
			});
			const { exitCode } = await terminal.ended;
			expect(exitCode).toBe(130);
			await site.isSwept();
		});
	},
);
