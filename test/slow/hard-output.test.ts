import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { job, type LaunchSite, openSite } from "../helpers/launch.js";
import { mountSmall } from "../helpers/machine.js";
import { waitFor } from "../helpers/processes.js";

const GIGABYTE = 1_000_000_000;
const NO_CONSOLE = ["sh", "-c", 'exec "$@" >/dev/null', "sh"];

/** The file of this name in the site's logs, of the only run and round. */
function logPathOf(site: LaunchSite, name: string): string {
	const path = readdirSync(site.logs, { recursive: true, encoding: "utf8" })
		.sort()
		.find((file) => file.endsWith(`/${name}`) && !file.includes("latest"));
	return join(site.logs, path ?? name);
}

function logOf(site: LaunchSite, name: string): Buffer {
	return readFileSync(logPathOf(site, name));
}

describe("what a worker prints", () => {
	it("may be a gigabyte on one line: the launcher's memory stays flat", async () => {
		const site = openSite();
		const launch = site.launch(
			["sh", "-c", `head -c ${GIGABYTE} /dev/zero | tr '\\0' x`],
			{ through: NO_CONSOLE },
		);
		let peakKiB = 0;
		await waitFor("its end", () => {
			peakKiB = Math.max(peakKiB, peakMemoryKiB(launch.pid));
			return launch.hasEnded;
		});
		expect((await launch.ended).exitCode).toBe(0);
		expect(peakKiB).toBeGreaterThan(10_000);
		expect(peakKiB).toBeLessThan(150_000);
		expect(statSync(logPathOf(site, "stdout.log")).size).toBe(GIGABYTE);
	});

	it("goes to the launcher's own streams with --redirects 0, and nobody holds them after its end", async () => {
		const { ended } = openSite().launch([
			...["--redirects", "0", "--tee", "0", "sh", "-c"],
			"sleep 600 & setsid sleep 600 & echo printed",
		]);
		// It resolves when the streams are closed, not when the process has ended.
		const { exitCode, stdout } = await ended;
		expect([exitCode, stdout]).toEqual([0, "printed\n"]);
	});
});

it("a log directory that is full while workers run: the run goes on, and it is said once", async (context) => {
	const site = openSite();
	mountSmall(context, site.logs, "256k");
	const { ended } = site.launch([
		...["--nproc-per-node", "2", "--max-restarts", "1", "sh", "-c"],
		'yes "some output" | head -c 300000; [ "$ELASTIC_RUN_ROUND" = 2 ] || exit 3',
	]);
	const { exitCode, stderr } = await ended;
	expect(stderr).toContain("succeeded: 2 rounds");
	expect(exitCode).toBe(0);
	expect(stderr.match(/file system of the logs is full/g)).toHaveLength(1);
});

it("a launcher whose stdout and stderr are gone goes on, and its log is in its file", async () => {
	const site = openSite();
	const code = join(site.path, "code");
	const launch = site.launch(
		["--nproc-per-node", "2", job("fails-in-round-1.js")],
		{
			through: [
				...["bash", "-c", `{ "$@"; echo $? >'${code}'; } 2>&1 | true`, "bash"],
			],
		},
	);
	await launch.ended;
	await waitFor("its exit code", () => existsSync(code));
	expect(readFileSync(code, "utf8")).toBe("0\n");
	expect(site.workers(2)).toHaveLength(2);
	const log = String(logOf(site, "agent.log"));
	expect(log).toContain("round 2: started 2 of 2 workers");
	expect(log).toContain("all nodes have finished");
});

/** The most that a process ever had in memory; 0 once it is gone. */
function peakMemoryKiB(pid: number): number {
	try {
		const status = readFileSync(`/proc/${pid}/status`, "utf8");
		return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0);
	} catch {
		return 0;
	}
}
