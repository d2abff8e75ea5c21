import {
	existsSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { systemErrorCode } from "../../src/base/errors.js";
import { isLiving, readProcess } from "../../src/base/process-stat.js";

const BOUND_MS = 60_000;

/** Resolves with the first result of `look` that is neither false nor undefined. */
export async function waitFor<T>(
	what: string,
	look: () => T | false | undefined,
	boundMs = BOUND_MS,
): Promise<T> {
	const deadline = performance.now() + boundMs;
	for (;;) {
		const result = look();
		if (result !== false && result !== undefined) return result;
		if (performance.now() > deadline)
			throw new Error(`waited ${boundMs} ms in vain for ${what}`);
		await pause(10);
	}
}

/** Resolves with a file's text once there is some. */
export function textIn(path: string): Promise<string> {
	return waitFor(
		`something in ${path}`,
		() => (existsSync(path) && readFileSync(path, "utf8")) || undefined,
	);
}

/** Whether a process runs; a zombie does not. */
export function isAlive(pid: number): boolean {
	const entry = readProcess(pid);
	return entry !== undefined && isLiving(entry);
}

/** What each thread of a process waits for, as Linux says it: its name, its state, and the function of the kernel. */
export function describeThreads(pid: number): string {
	const tasks = `/proc/${pid}/task`;
	const read = (path: string) => readFileSync(path, "utf8").trim();
	try {
		return readdirSync(tasks)
			.map((id) => {
				const at = join(tasks, id);
				const state = /^State:\s*(.*)$/m.exec(read(join(at, "status")))?.[1];
				return `  ${read(join(at, "comm"))}: ${state}, ${read(join(at, "wchan"))}`;
			})
			.join("\n");
	} catch (error) {
		return `  its threads are not known: ${error}`;
	}
}

/**
 * Signals exactly this process.
 * @throws Error if it is not known: 0 would name the test's own group, and -1 everybody
 */
export function signalProcess(
	pid: number | undefined,
	signal: NodeJS.Signals | number,
): void {
	if (pid === undefined || !(pid > 1)) {
		throw new Error(`no process is known for ${signal}: its pid is ${pid}`);
	}
	process.kill(pid, signal);
}

/** Kills exactly this process, if it is still there. */
export function endProcess(pid: number | undefined): void {
	try {
		signalProcess(pid, "SIGKILL");
	} catch (error) {
		// It may have ended by itself.
		if (systemErrorCode(error) !== "ESRCH") throw error;
	}
}

/** A fresh folder, and how to remove it. */
export function temporaryFolder(): { path: string; remove: () => void } {
	const path = realpathSync(mkdtempSync(join(tmpdir(), "elastic-run-test-")));
	return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
