import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { readProcess } from "../../src/base/process-stat.js";
import { CLI } from "../helpers/cli.js";
import {
	job,
	type Launch,
	openSite,
	type WorkerRecord,
} from "../helpers/launch.js";
import {
	endProcess,
	isAlive,
	signalProcess,
	textIn,
	waitFor,
} from "../helpers/processes.js";
import { HAS_TERMINALS, onTerminal } from "../helpers/terminal.js";

const HEARS = [
	"trap 'echo heard USR1' USR1; trap 'echo heard USR2' USR2",
	"trap 'echo heard TERM; exit 1' TERM",
	"echo ready; while :; do sleep 0.05; done",
].join("\n");

/** The sockets that a process listens on, by their inodes. */
function listeningSockets(pid: number): number {
	const rows = ["tcp", "tcp6"].flatMap((name) =>
		readFileSync(`/proc/${pid}/net/${name}`, "utf8")
			.trim()
			.split("\n")
			.slice(1),
	);
	const INSPECTOR_PORT = 9229;
	return rows
		.map((row) => row.trim().split(/\s+/))
		.filter(
			([, local = "", , state]) =>
				state === "0A" &&
				Number.parseInt(local.split(":")[1] ?? "", 16) === INSPECTOR_PORT,
		).length;
}

describe.skipIf(process.platform !== "linux")(
	"a signal that no flag names",
	() => {
		it("SIGUSR1 goes on to the workers, and opens no debugger", async () => {
			const site = openSite();
			const launch = site.launch(["--nproc-per-node", "2", "sh", "-c", HEARS]);
			await waitFor(
				"both workers",
				() => count(launch.output.stdout, "ready") === 2,
			);
			const before = listeningSockets(launch.pid);
			launch.signal("SIGUSR1");
			const heard = "heard USR1";
			await waitFor(heard, () => count(launch.output.stdout, heard) === 2);
			expect(listeningSockets(launch.pid)).toBe(before);
			expect(launch.output.stderr).toContain("SIGUSR1: passed on to rank 0, 1");
			launch.signal("SIGTERM");
			const end = await launch.ended;
			expect(end.exitCode).toBe(143);
			await site.isSwept();
		});
	},
);

it.skipIf(process.platform !== "linux")(
	"a launcher whose npm is killed leaves in order",
	async () => {
		const site = openSite();
		const file = (name: string) => join(site.path, name);
		writeFileSync(
			file("run.sh"),
			`echo $$ > launcher; exec '${process.execPath}' '${CLI}' --no-node sh -c 'trap "echo heard TERM >> told; exit 1" TERM; echo $$ > worker; while :; do sleep 0.05; done'`,
		);
		writeFileSync(
			file("package.json"),
			'{ "scripts": { "start": "exec sh -c \\". ./run.sh\\"" } }',
		);
		const npm = site.start("npm", ["start"], { cwd: site.path });
		const worker = Number(await textIn(file("worker")));
		const launcher = Number(await textIn(file("launcher")));
		npm.signal("SIGKILL");
		await waitFor("the end", () => !isAlive(worker) && !isAlive(launcher));
		expect(await textIn(file("told"))).toBe("heard TERM\n");
		await site.isSwept();
	},
);

function count(text: string, words: string): number {
	return text.split(words).length - 1;
}

/** The launcher waits for its signal for half a second: a busy machine's test that comes later shows nothing. */
const IN_TIME_MS = 400;

/** What a scheduler or a service manager does that stops a job: workers may die before the launcher hears. */
it.each([
	["SIGINT", 130, "a worker's own death", []],
	["SIGTERM", 143, "an exit code, as a shell reports it", ["sh", "-c"]],
] as const)("%s to the workers first and to the launcher when they are dead ends with %i, without a failure or a restart: %s", async (signal, exitCode, _, shell) => {
	const worker = ["node", job("works.js")];
	const command =
		shell.length === 0 ? worker : [...shell, `${worker.join(" ")}; exit $?`];
	const once = async () => {
		const site = openSite();
		const launch = site.launch(["--nproc-per-node", "2", ...command]);
		const workers = await site.sawWorkers(2);
		const began = performance.now();
		for (const { pid } of workers) signalProcess(pid, signal);
		await waitFor("the workers' deaths", () =>
			workers.every(({ pid }) => !isAlive(pid)),
		);
		launch.signal(signal);
		const isLate = performance.now() - began > IN_TIME_MS;
		return { site, isLate, end: await launch.ended };
	};
	let { site, isLate, end } = await once();
	while (isLate) ({ site, isLate, end } = await once());
	expect(end.stderr).not.toContain("failed");
	expect(end.stderr).toContain("restarts: 0 of 3 used");
	expect(end.exitCode).toBe(exitCode);
	expect(site.workers()).toHaveLength(2);
	await site.isSwept();
});

const CTRL_C = "\x03";
const CTRL_Z = "\x1a";

describe("a worker that dies of a real-time signal", () => {
	const DIES = "kill -35 $$";

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
	const TERM = "xterm";

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

	it.each([
		["by nohup of a shell that tells nothing", "/bin/sh", `nohup ${LAUNCHER}`],
		["by one that ignores SIGHUP", "/bin/bash", `trap "" HUP; ${LAUNCHER}`],
	])("may be closed where it was started %s", async (_, SHELL, launcher) => {
		const site = openSite();
		const words = join(site.path, "words");
		const command = `${launcher} ${job("tells-signals.js")} > ${words} 2>&1; exit`;
		const terminal = onTerminal(site, command, { SHELL, TERM });
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
