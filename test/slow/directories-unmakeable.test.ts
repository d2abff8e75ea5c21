import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openSite } from "../helpers/launch.js";
import { isAlive, textIn, waitFor } from "../helpers/processes.js";

/** Paths below which nobody, not even root, can make a directory, by the reason. */
const UNMAKEABLE = [
	"in /proc",
	"below a file",
	"in a circle of links",
] as const;

function unmakeable(site: { readonly path: string }, why: string): string {
	if (why === "in /proc") return "/proc/nope";
	const path = join(site.path, "in-the-way");
	if (why === "below a file") writeFileSync(path, "");
	else symlinkSync(path, path);
	return path;
}

it.each(
	UNMAKEABLE,
)("a home %s: the run goes on, without a record", async (why) => {
	const site = openSite();
	const launch = site.launch(["--no-node", "true"], {
		env: { HOME: join(unmakeable(site, why), "home") },
	});
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode, stderr).toBe(0);
});

it.each(
	UNMAKEABLE,
)("channels %s: it ends before anything starts, and names the place", async (why) => {
	const site = openSite();
	const place = join(unmakeable(site, why), "channels");
	const launch = site.launch(["--no-node", "true"], {
		env: { ELASTIC_RUN_DIR: place },
	});
	const { exitCode, stderr } = await launch.ended;
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
	const launch = site.launch(
		["sh", "-c", "until [ -e asked ]; do sleep 0.05; done"],
		{
			env: { PATH: `${site.path}:${process.env.PATH}`, SLURM_JOB_ID: "7" },
		},
	);
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode, stderr).toBe(0);
	const asked = await textIn(join(site.path, "asked"));
	const pids = asked.trim().split(" ").map(Number);
	expect(pids).toHaveLength(2);
	await waitFor("their end", () => !pids.some(isAlive));
});
