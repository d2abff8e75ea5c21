// Restarted Node workers that are started ahead and wait before their script: docs/warm-restarts.md.
import {
	appendFileSync,
	copyFileSync,
	readdirSync,
	readFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { isLiving, readProcess } from "../../src/base/process-stat.js";
import { type Launch, type LaunchSite, openSite } from "../helpers/launch.js";
import { isAlive, signalProcess, waitFor } from "../helpers/processes.js";
import { order, told } from "../helpers/warm.js";

const EVERYTHING = fileURLToPath(
	new URL("../fixtures/warm/everything.cjs", import.meta.url),
);

interface Told {
	readonly pid: number;
	readonly told: Readonly<Record<string, unknown>>;
	readonly drawn: readonly unknown[];
}

it("makes no difference to a Node script: what it knows of itself, its exit codes, its text", async () => {
	const site = openSite();
	const script = join(site.path, "train.cjs");
	copyFileSync(EVERYTHING, script);
	const launch = start(site, script, {
		OTHER: "é \n x",
		NODE_OPTIONS: "--no-warnings",
	});
	/** What waits while the worker of this round runs. */
	const waitingIn = async (round: number) => {
		const workers = await told<Told>(launch, round);
		return waiting(launch, new Set(workers.map(({ pid }) => pid)));
	};
	const [first = 0] = await waitingIn(1);
	appendFileSync(script, "console.log('other text');\n");
	order(site, 1, "exit");
	await launch.saw("stderr", "round 2: workers start warm");
	const [cold, warm] = await told<Told>(launch, 2);
	expect(warm?.pid).toBe(first);
	expect(warm?.told).toEqual(cold?.told);
	for (const [index, value] of (cold?.drawn ?? []).entries()) {
		expect(warm?.drawn[index]).not.toEqual(value);
	}
	await launch.saw("stdout", "other text");
	await launch.saw("stderr", "exit code 7");
	await waitingIn(2);
	order(site, 2, "raise");
	await launch.saw("stderr", "round 3: workers start warm");
	await waitingIn(3);
	order(site, 3, "signal");
	await launch.saw("stderr", "round 4: workers start warm");
	const [last = 0] = await waitingIn(4);
	order(site, 4, "end");
	const { exitCode, stdout, stderr } = await launch.ended;
	expect(stderr).toContain("killed by SIGKILL");
	expect(stderr).toMatch(/Error: as asked\n.*at obey .*train\.cjs/);
	expect(stdout.match(/^\[node-a 0\] at exit$/gm)).toHaveLength(3);
	expect(exitCode).toBe(0);
	expect(isAlive(last)).toBe(false);
}, 120_000);

it("starts cold after the process that waited was killed, and none outlives its launcher", async () => {
	const site = openSite();
	const launch = start(site, EVERYTHING);
	await told<Told>(launch, 1);
	const [killed = 0] = await waiting(launch);
	signalProcess(killed, "SIGKILL");
	await waitFor("its end", () => !isAlive(killed));
	order(site, 1, "exit");
	await launch.saw(
		"stderr",
		"round 2: workers start cold: the process that was started ahead has ended",
	);
	await told<Told>(launch, 2);
	const [orphan = 0] = await waiting(launch);
	launch.signal("SIGKILL");
	await waitFor("the end of what waits", () => !isAlive(orphan));
}, 120_000);

function start(
	site: LaunchSite,
	script: string,
	env: Readonly<Record<string, string>> = {},
): Launch {
	const flags = ["--warm", "auto", "--max-restarts", "5", "-v"];
	return site.launch([...flags, script, join(site.path, "order")], { env });
}

/** The processes that wait for a place, once there are some. A worker closes its pipe only a moment after its start. */
function waiting(
	launch: Launch,
	workers: ReadonlySet<number> = new Set(),
): Promise<readonly number[]> {
	return waitFor("a process that waits", () => {
		const found = readdirSync("/proc").flatMap((name) => {
			const entry = readProcess(Number(name));
			const isOurs = entry?.parentId === launch.pid && isLiving(entry);
			const isFree = isOurs && !workers.has(entry.pid);
			return isFree && isParked(entry.pid) ? [entry.pid] : [];
		});
		return found.length > 0 && found;
	});
}

/** A worker has closed the pipe. */
function isParked(pid: number): boolean {
	try {
		const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
		const descriptors = readdirSync(`/proc/${pid}/fd`);
		return command.includes("--require") && descriptors.includes("100");
	} catch {
		return false;
	}
}
