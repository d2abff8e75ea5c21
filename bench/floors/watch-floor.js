import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const WATCHER = fileURLToPath(new URL("watcher.js", import.meta.url));
const FILES = 4;
const SMOKE_PROCESSES = 2;
/** All have said what they saw of the last one. */
const APART_MS = 250;

/**
 * A file is renamed into one directory after another → fs.watch has told the
 * process that watches it: in milliseconds, one sample for each process and file.
 * @param {number} processes
 * @returns {import("../figures.js").Beside}
 */
export function fileIsSeen(processes) {
	return {
		name: `fs.watch in ${processes} processes`,
		async measure({ scratch, isSmoke }) {
			const directory = mkdtempSync(join(scratch, "watched-"));
			const watchers = Array.from(
				{ length: isSmoke ? SMOKE_PROCESSES : processes },
				(_, index) => watcherOf(join(directory, String(index))),
			);
			try {
				await Promise.all(watchers.map(({ ready }) => ready));
				for (let file = 0; file < FILES; file += 1) {
					await sleep(APART_MS);
					for (const watcher of watchers) watcher.put(`${file}.json`);
				}
				await Promise.all(watchers.map(({ done }) => done));
				return watchers.flatMap(({ samples }) => samples);
			} finally {
				for (const { process } of watchers) process.kill("SIGKILL");
			}
		},
	};
}

function watcherOf(directory) {
	mkdirSync(join(directory, "watched"), { recursive: true });
	const child = spawn(
		process.execPath,
		[WATCHER, join(directory, "watched"), String(FILES)],
		{ stdio: ["ignore", "pipe", "inherit"] },
	);
	let said = "";
	child.stdout.setEncoding("utf8").on("data", (text) => {
		said += text;
	});
	return {
		process: child,
		ready: once(child.stdout, "data"),
		done: once(child, "close"),
		get samples() {
			return said.trim().split("\n").slice(1).map(Number);
		},
		put(name) {
			const whole = join(directory, name);
			const writtenAt = performance.timeOrigin + performance.now();
			writeFileSync(whole, String(writtenAt));
			renameSync(whole, join(directory, "watched", name));
		},
	};
}
