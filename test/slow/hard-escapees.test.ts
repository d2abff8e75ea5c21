import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type LaunchSite, openSite } from "../helpers/launch.js";
import { endProcess, isAlive, waitFor } from "../helpers/processes.js";

/** Starts a process in a session of its own, that writes its pid into the file "escapee". */
const ESCAPE = (does: string) =>
	`setsid sh -c '${does}; echo $$ >new && mv new escapee; sleep 600; exec sleep 600' & while [ ! -e escapee ]; do sleep 0.01; done`;

/** Tells of the escapee's state as round 2 finds it; empty where it is gone. */
const LOOK = "cat /proc/$(cat escapee)/stat >found 2>/dev/null; true";

function escapeeOf(site: LaunchSite): number {
	const pid = Number(readFileSync(join(site.path, "escapee"), "utf8"));
	onTestFinished(() => endProcess(pid));
	return pid;
}

describe("a process that left its worker's process group", () => {
	it("is gone before the next round's workers start, also where it ignores SIGTERM", async () => {
		const site = openSite();
		const { ended } = site.launch([
			...["--nproc-per-node", "1", "sh", "-c"],
			`if [ "$ELASTIC_RUN_ROUND" = 1 ]; then ${ESCAPE('trap "" TERM')}; exit 3; fi; ${LOOK}`,
		]);
		const { exitCode, stderr } = await ended;
		const pid = escapeeOf(site);
		expect(exitCode).toBe(0);
		// A zombie holds nothing any more.
		expect(readFileSync(join(site.path, "found"), "utf8")).toMatch(
			/^$|^\d+ \(.*\) Z /,
		);
		expect(
			stderr.match(new RegExp(`are ended: pid ${pid}\\b`, "g")),
		).toHaveLength(1);
	});

	it("is gone when a launcher that succeeded ends", async () => {
		const site = openSite();
		const { ended } = site.launch(["sh", "-c", ESCAPE("true")]);
		expect((await ended).exitCode).toBe(0);
		expect(isAlive(escapeeOf(site))).toBe(false);
	});

	it("is spared while another worker of the round runs", async () => {
		const site = openSite();
		const launch = site.launch([
			...["--nproc-per-node", "2", "sh", "-c"],
			`if [ "$RANK" = 1 ]; then ${ESCAPE("true")}; exit 0; fi; while [ ! -e "$JOB_RELEASE" ]; do sleep 0.05; done; ${LOOK}`,
		]);
		await waitFor("the escapee", () => existsSync(join(site.path, "escapee")));
		writeFileSync(site.release, "");
		expect((await launch.ended).exitCode).toBe(0);
		expect(readFileSync(join(site.path, "found"), "utf8")).toMatch(/\) S /);
		expect(isAlive(escapeeOf(site))).toBe(false);
	});
});
