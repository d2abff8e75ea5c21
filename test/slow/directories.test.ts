// The launcher's directories where they cannot be made, and where somebody removes or shuts them.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { type LaunchSite, openSite } from "../helpers/launch.js";
import { isAlive, textIn, waitFor } from "../helpers/processes.js";

const NOBODY = "65534";
const WAIT = 'while ! [ -e "$JOB_RELEASE" ]; do sleep 0.05; done';

/** A path below which nobody, not even root, can make a directory. */
function unmakeable(site: LaunchSite, why: string): string {
	if (why === "in /proc") return "/proc/nope";
	const path = join(site.path, "in-the-way");
	if (why === "below a file") writeFileSync(path, "");
	else symlinkSync(path, path);
	return path;
}

it.each([
	"in /proc",
	"below a file",
	"in a circle of links",
])("a home %s: the run goes on, without a record; channels there: it ends before anything starts, and names the place", async (why) => {
	const site = openSite();
	const way = unmakeable(site, why);
	const home = site.launch(["--no-node", "true"], {
		env: { HOME: join(way, "home") },
	});
	expect((await home.ended).exitCode).toBe(0);
	const place = join(way, "channels");
	const env = { ELASTIC_RUN_DIR: place };
	const channels = site.launch(["--no-node", "true"], { env });
	const { exitCode, stderr } = await channels.ended;
	expect(exitCode, stderr).toBe(1);
	expect(stderr).not.toContain("started");
	expect(stderr).toContain(place);
});

it("a squeue that hangs ends with the run, and whatever it has started", async () => {
	const site = openSite();
	const squeue = join(site.path, "squeue");
	writeFileSync(
		squeue,
		"#!/bin/sh\nsleep 600 &\necho $$ $! > asked.new; mv asked.new asked; wait\n",
	);
	chmodSync(squeue, 0o755);
	const env = { PATH: `${site.path}:${process.env.PATH}`, SLURM_JOB_ID: "7" };
	const waits = "until [ -e asked ]; do sleep 0.05; done";
	const launch = site.launch(["sh", "-c", waits], { env });
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode, stderr).toBe(0);
	const asked = await textIn(join(site.path, "asked"));
	const pids = asked.trim().split(" ").map(Number);
	expect(pids).toHaveLength(2);
	await waitFor("their end", () => !pids.some(isAlive));
});

it.each([
	["the channels' base", 'rm -rf "$ELASTIC_RUN_DIR_OF_TEST"'],
	["the agent's directory", 'rm -rf "$(dirname "$ELASTIC_RUN_CHANNEL")"'],
	["all temporary files", 'rm -rf "$TMPDIR"'],
])("%s are removed while a worker runs: the next round starts, and commands find the run", async (_what, remove) => {
	const site = openSite();
	const script = remove.replace("$ELASTIC_RUN_DIR_OF_TEST", site.channels);
	const env = { ELASTIC_RUN_LOG_DIR: "" };
	const launch = site.launch(
		[
			...["--run-id", "tidied", "--max-restarts", "1", "sh", "-c"],
			`if [ "$ELASTIC_RUN_ROUND" = 1 ]; then ${script}; exit 3; fi; ${WAIT}`,
		],
		{ env },
	);
	await launch.saw("stderr", "round 2: started 1 of 1");
	const status = await site.launch(["status", "tidied"], { env }).ended;
	expect(status.stdout).toContain("round 2");
	writeFileSync(site.release, "");
	const { exitCode, stderr } = await launch.ended;
	expect(stderr).toContain("succeeded: 2 rounds");
	expect(exitCode).toBe(0);
});

/** The words that start a program as a user whom modes keep out, who owns the site. */
function asNobody(context: TestContext, site: LaunchSite): readonly string[] {
	const words = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY];
	const through = [...words, "--clear-groups"];
	const [program = "", ...args] = through;
	if (spawnSync(program, [...args, "true"]).status !== 0) {
		context.skip("another user's identity cannot be taken here");
	}
	execFileSync("chown", ["-R", `${NOBODY}:${NOBODY}`, site.path]);
	return through;
}

describe("a worker that shuts a directory of its channel", () => {
	it.for([
		[
			"one that it has made",
			'd="$ELASTIC_RUN_CHANNEL/replies/shut"; mkdir "$d"; touch "$d/file"; chmod 500 "$d"',
		],
		["that of its agent", 'chmod 0 "$(dirname "$ELASTIC_RUN_CHANNEL")"'],
	] as const)("%s: the run goes on, and nothing is left", async ([
		,
		shut,
	], context) => {
		const site = openSite();
		const through = asNobody(context, site);
		const fails = `${shut}; [ "$ELASTIC_RUN_ROUND" = 2 ] || exit 3`;
		const line = ["--max-restarts", "1", "sh", "-c", fails];
		const { exitCode, stderr } = await site.launch(line, { through }).ended;
		expect(stderr).toContain("succeeded: 2 rounds");
		expect(exitCode).toBe(0);
		expect(readdirSync(site.channels)).toEqual([]);
	});
});
