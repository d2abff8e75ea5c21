import { execFileSync } from "node:child_process";
import {
	readdirSync,
	readFileSync,
	readlinkSync,
	renameSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type ProcessEntry, readProcess } from "../../src/base/process-stat.js";
import { PYTHON } from "../fixtures/python/start-python.js";
import type { Launch, LaunchSite } from "./launch.js";
import { waitFor } from "./processes.js";

/** What importing torch may take on a busy machine, several times over. */
const PATIENCE_MS = 600_000;

/** Tells the workers of a round how to end. */
export function order(site: LaunchSite, round: number, what: string): void {
	const file = join(site.path, `order.${round}`);
	// A worker that looks meanwhile must not find half an order.
	writeFileSync(`${file}.new`, what);
	renameSync(`${file}.new`, file);
}

/** Waits for the helper, and for a process that it has parked; returns the helper's pid. */
export async function isReady(launch: Launch): Promise<number> {
	const said = /restarts will be (?:half )?warm: .* \(pid (\d+)\)/;
	await waitFor(
		"the helper",
		() => said.test(launch.output.stderr),
		PATIENCE_MS,
	);
	const helper = Number(said.exec(launch.output.stderr)?.[1]);
	await parked(helper);
	return helper;
}

/**
 * Waits until the helper has so many workers, and processes that wait for their start; returns the pid of one. The launcher
 * hears of each of these before it hears of a worker's end: the helper tells it of both, in this order.
 */
export async function parked(helper: number, count = 1): Promise<number> {
	const found = await waitFor("a parked process", () => {
		const children = childrenOf(helper);
		return children.length >= count && !isListening(helper) && children;
	});
	return found[0]?.pid ?? 0;
}

/** Whether a process that it has forked has not yet told it, through a pipe, that it waits. */
function isListening(helper: number): boolean {
	return readdirSync(`/proc/${helper}/fdinfo`).some((one) => {
		try {
			const path = readlinkSync(`/proc/${helper}/fd/${one}`);
			const about = readFileSync(`/proc/${helper}/fdinfo/${one}`, "utf8");
			return path.startsWith("pipe:") && /^flags:.*[04]$/m.test(about);
		} catch {
			return false;
		}
	});
}

/** Its children that lead a session of their own. */
export function childrenOf(parent: number): readonly ProcessEntry[] {
	return readdirSync("/proc")
		.flatMap((name) => readProcess(Number(name)) ?? [])
		.filter((one) => one.parentId === parent && one.sessionId === one.pid);
}

/** The lines of JSON that workers have written, once there are so many. */
export async function told<Line>(
	launch: Launch,
	count: number,
): Promise<readonly Line[]> {
	const lines = () =>
		launch.output.stdout
			.split("\n")
			.map((line) => line.slice(line.indexOf("{")))
			.filter((line) => line.startsWith("{") && line.endsWith("}"));
	await waitFor(`${count} reports`, () => lines().length >= count, PATIENCE_MS);
	return lines().map((line): Line => JSON.parse(line));
}

/** A virtual environment that has these modules, by file name; `folder` is where they are. */
export function venvWith(
	site: LaunchSite,
	libraries: Readonly<Record<string, string>>,
): { readonly python: string; readonly folder: string } {
	const venv = join(site.path, "venv");
	execFileSync(PYTHON, ["-m", "venv", "--without-pip", venv]);
	const python = join(venv, "bin", "python");
	const asked = 'import sysconfig; print(sysconfig.get_paths()["purelib"])';
	const folder = String(execFileSync(python, ["-c", asked])).trim();
	for (const [name, text] of Object.entries(libraries)) {
		writeFileSync(join(folder, name), text);
	}
	return { python, folder };
}
