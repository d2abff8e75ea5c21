import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CLI } from "../helpers/cli.js";
import { openSite } from "../helpers/launch.js";
import { isAlive, textIn, waitFor } from "../helpers/processes.js";

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
		it.each([
			"SIGUSR1",
			"SIGUSR2",
		] as const)("%s goes on to the workers, and opens no debugger", async (signal) => {
			const site = openSite();
			const launch = site.launch(["--nproc-per-node", "2", "sh", "-c", HEARS]);
			await waitFor(
				"both workers",
				() => count(launch.output.stdout, "ready") === 2,
			);
			const before = listeningSockets(launch.pid);
			launch.signal(signal);
			const heard = `heard ${signal.slice(3)}`;
			await waitFor(heard, () => count(launch.output.stdout, heard) === 2);
			expect(listeningSockets(launch.pid)).toBe(before);
			expect(launch.output.stderr).toContain(
				`${signal}: passed on to rank 0, 1`,
			);
			launch.signal("SIGTERM");
			const end = await launch.ended;
			expect(end.exitCode).toBe(143);
			await site.isSwept();
		});

		it("SIGUSR1 opens no debugger of a command that watches", async () => {
			const site = openSite();
			const launch = site.launch([
				...["--run-id", "watched", "sh", "-c", HEARS],
			]);
			await launch.saw("stderr", "round 1: started");
			const watch = site.launch(["status", "watched", "--watch"]);
			await watch.saw("stdout", "run watched: round 1 runs");
			const before = listeningSockets(watch.pid);
			watch.signal("SIGUSR1");
			launch.signal("SIGUSR1");
			// Its log line comes after the time in which Node would have opened one.
			await launch.saw("stderr", "SIGUSR1: passed on to");
			expect(listeningSockets(watch.pid)).toBe(before);
			watch.signal("SIGTERM");
			await watch.ended;
			launch.signal("SIGTERM");
			await launch.ended;
		});

		it.each([
			["SIGALRM", 142],
			["SIGIO", 157],
			["SIGPWR", 158],
			["SIGXCPU", 152],
		] as const)("%s makes the agent leave in order, with %i", async (signal, code) => {
			const site = openSite();
			const launch = site.launch(["sh", "-c", HEARS]);
			await launch.saw("stdout", "ready");
			launch.signal(signal);
			const { exitCode, stdout, stderr } = await launch.ended;
			expect(exitCode, stderr).toBe(code);
			expect(stdout).toContain("heard TERM");
			await site.isSwept();
		});
	},
);

describe.skipIf(process.platform !== "linux")(
	"a signal that a runtime sends to itself",
	() => {
		it("is no wish to stop, from any sender", async () => {
			const site = openSite();
			const launch = site.launch(["sh", "-c", HEARS]);
			await launch.saw("stdout", "ready");
			launch.signal("SIGPROF");
			launch.signal("SIGVTALRM");
			launch.signal("SIGUSR1");
			await launch.saw("stdout", "heard USR1");
			launch.signal("SIGTERM");
			const { exitCode, stderr } = await launch.ended;
			expect(exitCode).toBe(143);
			expect(stderr).not.toMatch(/SIGPROF|SIGVTALRM/);
		});

		it("counts the launcher's time under --cpu-prof", async () => {
			const site = openSite();
			const launch = site.start(process.execPath, [
				...["--cpu-prof", "--cpu-prof-name", "launcher.cpuprofile", CLI],
				...["sh", "-c", "sleep 1"],
			]);
			const { exitCode, stderr } = await launch.ended;
			expect(exitCode, stderr).toBe(0);
			const file = join(site.path, "launcher.cpuprofile");
			const { samples } = JSON.parse(readFileSync(file, "utf8"));
			expect(samples.length).toBeGreaterThan(10);
		});
	},
);

it("one Ctrl-C that is delivered twice leaves the workers their time", async () => {
	const site = openSite();
	const saves =
		"trap 'sleep 0.3; echo saved; exit 1' INT; echo ready; while :; do sleep 0.05; done";
	const launch = site.launch(["sh", "-c", saves]);
	await launch.saw("stdout", "ready");
	launch.signal("SIGINT");
	await launch.saw("stderr", "SIGINT: stopping the workers");
	launch.signal("SIGINT");
	const { exitCode, stdout, stderr } = await launch.ended;
	expect(exitCode).toBe(130);
	expect(stdout).toContain("saved");
	expect(stderr).not.toContain("again");
});

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
