import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { lastOf, readIfThere, readMarks } from "./marks.js";

const LONGEST_JOB_MS = 120_000;
/** Runs a launcher, its first argument on, with stdout into a pipe that the worker reads. */
const INTO_VERIFY = 'worker=$1; shift; "$@" | exec "$worker" verify';

/**
 * @typedef {object} JobRequest
 * @property {import("./launchers.js").Launcher} launcher
 * @property {number} count workers
 * @property {string} mode what the workers do: see worker.c
 * @property {"default" | "off" | "on"} [console] `on`: the output is shown as well, and verified
 */

/** One launcher with its workers, from the spawn to its end. Times are milliseconds since 1970. */
export class Job {
	startedAt;
	pid;
	#ended;
	#request;
	#directory;
	#endedAt;

	/**
	 * @param {JobRequest} request
	 * @param {{ worker: string, scratch: string }} place
	 */
	constructor(request, { worker, scratch }) {
		this.#request = request;
		this.#directory = mkdtempSync(join(scratch, "job-"));
		const { launcher, count, mode, console = "default" } = request;
		const command = launcher.command({
			count,
			console,
			directory: this.#directory,
			worker: [worker, this.#path("marks"), mode],
		});
		const [file, ...args] =
			console === "on"
				? ["/bin/sh", "-c", INTO_VERIFY, "sh", worker, ...command]
				: command;
		const stdout = openSync(this.#path("console"), "a");
		const stderr = openSync(this.#path("messages"), "a");
		this.startedAt = startOfMillisecond();
		const start = performance.now();
		const child = spawn(file, args, { stdio: ["ignore", stdout, stderr] });
		this.pid = child.pid;
		closeSync(stdout);
		closeSync(stderr);
		// Before its directory is removed.
		process.prependListener("exit", this.#abandon);
		this.#ended = new Promise((resolve, reject) => {
			child.once("error", reject);
			child.once("exit", (code, signal) => {
				this.#endedAt = this.startedAt + performance.now() - start;
				resolve(code ?? signal);
			});
		});
		this.#ended.catch(() => {});
	}

	/** Resolves when all workers of the first round have started. */
	async running() {
		while (this.starts().length < this.#request.count) {
			if (this.#endedAt !== undefined || this.#isLate()) break;
			await sleep(10);
		}
	}

	/**
	 * Resolves with the marks, the exit's time and what was shown, once the
	 * launcher has ended well. Rejects with its words where it has not, and
	 * leaves nothing of it behind.
	 */
	async end() {
		const timer = new AbortController();
		const late = sleep(LONGEST_JOB_MS, "late", { signal: timer.signal });
		late.catch(() => {});
		try {
			const result = await Promise.race([this.#ended, late]);
			const marks = this.marks();
			if (result !== 0) throw this.#failure(result);
			return {
				marks,
				endedAt: this.#endedAt,
				shown: readIfThere(this.#path("console")),
			};
		} finally {
			timer.abort();
			process.off("exit", this.#abandon);
			if (this.#endedAt === undefined) this.#kill();
			this.#tidy();
		}
	}

	/** Asks workers that wait to end. */
	release() {
		this.#signalWorkers("SIGUSR1");
	}

	/** @returns {import("./marks.js").Mark[]} */
	marks() {
		return readMarks(this.#path("marks"));
	}

	starts() {
		return this.marks().filter(({ event }) => event === "start");
	}

	/** Where many files were deleted, ext4 is slow to make new ones for minutes: what is small goes with the bench. */
	#tidy() {
		if (this.#request.mode !== "print") return;
		rmSync(this.#directory, { recursive: true, force: true });
	}

	/** The bench is interrupted. By hand, nobody ends the workers of a launcher that was killed. */
	#abandon = () => {
		if (this.#endedAt === undefined) this.#kill();
	};

	#kill() {
		if (this.pid !== undefined) process.kill(this.pid, "SIGKILL");
		this.#signalWorkers("SIGKILL");
	}

	#signalWorkers(signal) {
		for (const { pid } of this.starts()) {
			try {
				process.kill(pid, signal);
			} catch {
				// It has ended meanwhile.
			}
		}
	}

	#isLate() {
		return Date.now() - this.startedAt > LONGEST_JOB_MS;
	}

	#failure(result) {
		const { launcher, mode, count } = this.#request;
		const words = readIfThere(this.#path("messages"))
			.trim()
			.split("\n")
			.slice(-20);
		return new Error(
			`${launcher.name} with ${count} workers (${mode}) ended with ${result}:\n${words.join("\n")}`,
		);
	}

	#path(name) {
		return join(this.#directory, name);
	}
}

/** `Date.now` knows whole milliseconds only: this one has just begun. */
function startOfMillisecond() {
	const before = Date.now();
	for (;;) {
		const now = Date.now();
		if (now !== before) return now;
	}
}

/**
 * The milliseconds from a worker's failure to the last start in the next round.
 * @param {JobRequest} request
 * @param {{ worker: string, scratch: string }} place
 */
export async function timeOfRestart(request, place) {
	const { marks } = await new Job(request, place).end();
	requireStarts(marks, 2 * request.count);
	return lastOf(marks, "start") - lastOf(marks, "end");
}

export function requireStarts(marks, count) {
	const starts = marks.filter(({ event }) => event === "start").length;
	if (starts !== count) {
		throw new Error(`${starts} workers were started where ${count} should be`);
	}
}
