import type { Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Clock, onBeat } from "../../clock.js";
import { messageOf, systemErrorCode } from "../../errors.js";
import type { Logger } from "../logger.js";
import { ConsoleTarget } from "./console-target.js";
import { FileViewer, type Turn } from "./file-viewer.js";
import { FollowedFile } from "./followed-file.js";

/** While files change they are looked at this often … */
const SHORTEST_PAUSE_MS = 50;
/** … and the longer they are quiet the less often: the pause is this part of the quiet time. */
const PAUSE_PER_QUIET_TIME = 1 / 8;
const LONGEST_PAUSE_MS = 2_000;

export interface ConsoleOptions {
	readonly clock: Clock;
	readonly stdout: Writable;
	readonly stderr: Writable;
	/** On a terminal only, a tail that lags more than 16 MiB behind skips, with a notice. */
	readonly stdoutIsTerminal: boolean;
	readonly stderrIsTerminal: boolean;
	/** Told once of each stream that is lost, and of each file that cannot be read. */
	readonly logger: Logger;
}

export interface FollowRequest {
	readonly path: string;
	/** Where to begin, in bytes: what the file held before its worker was started. */
	readonly from: number;
	readonly target: "stdout" | "stderr";
	/** Goes before each line: see `renderPrefix`. */
	readonly prefix: Uint8Array;
}

/** A file that is shown. */
export interface Followed {
	/** The lines that are shown from now on bear another prefix. */
	rename(prefix: Uint8Array): void;
	/** Its writers are gone: shows the rest, an unfinished last line too, and lets the file go. */
	finish(): Promise<void>;
}

/** Shows the workers' files on the launcher's own streams while they grow. */
export interface WorkerConsole {
	follow(request: FollowRequest): Followed;
	/** Resolves when all that is in the files at this moment was shown, however slow the console. */
	drain(): Promise<void>;
	/** Stops at once and ends every wait; what was not shown stays in the files. */
	close(): void;
}

/**
 * A tail that reads the files in turns, so that memory stays flat and no
 * worker is ever slowed down: it lags behind instead. Lines are written whole;
 * those of different workers are never mixed.
 */
export function createConsole(options: ConsoleOptions): WorkerConsole {
	return new ConsoleTail(options);
}

class ConsoleTail implements WorkerConsole {
	readonly #clock: Clock;
	readonly #logger: Logger;
	readonly #targets: Readonly<Record<"stdout" | "stderr", ConsoleTarget>>;
	readonly #viewer: FileViewer;
	readonly #files = new Set<FollowedFile>();
	#running = false;
	#closed = false;
	#hurried = false;
	#endSleep: () => void = () => {};

	constructor(options: ConsoleOptions) {
		this.#clock = options.clock;
		this.#logger = options.logger;
		const stdout = this.#open("stdout", options.stdout);
		const stderr = this.#open("stderr", options.stderr);
		this.#targets = { stdout, stderr };
		const terminals = new Set<ConsoleTarget>();
		if (options.stdoutIsTerminal) terminals.add(stdout);
		if (options.stderrIsTerminal) terminals.add(stderr);
		this.#viewer = new FileViewer(options.clock, terminals);
	}

	follow({ path, from, target, prefix }: FollowRequest): Followed {
		const file = new FollowedFile({
			path,
			from,
			prefix,
			target: this.#targets[target],
			now: this.#clock.now(),
		});
		if (!this.#closed) this.#files.add(file);
		this.#hurry();
		if (!this.#running) void this.#run();
		return {
			rename: (other) => {
				file.prefix = other;
			},
			finish: () => this.#finish(file),
		};
	}

	async #finish(file: FollowedFile): Promise<void> {
		await this.#flush(file);
		this.#files.delete(file);
		// Nothing more comes of this file: whoever waits for it has it all.
		file.settle();
		this.#hurry();
	}

	async drain(): Promise<void> {
		await Promise.all([...this.#files].map((file) => this.#flush(file)));
	}

	close(): void {
		this.#closed = true;
		for (const file of this.#files) file.settle();
		this.#files.clear();
		this.#targets.stdout.release();
		this.#targets.stderr.release();
		this.#hurry();
	}

	#open(name: "stdout" | "stderr", stream: Writable): ConsoleTarget {
		return new ConsoleTarget(stream, (error) => {
			const why = systemErrorCode(error) ?? messageOf(error);
			this.#logger.warn(
				`${name} is gone (${why}): the workers' lines go to their files only`,
			);
		});
	}

	/** Never rejects: where the system does not give a file any more, that file is lost, and not the run. */
	#flush(file: FollowedFile): Promise<void> {
		if (!this.#files.has(file)) return Promise.resolve();
		this.#hurry();
		return file.flush().catch((error) => this.#lose(file, error));
	}

	async #run(): Promise<void> {
		this.#running = true;
		let changedAt = this.#clock.now();
		while (this.#files.size > 0) {
			this.#hurried = false;
			const turn = await this.#pass();
			const now = this.#clock.now();
			if (turn !== "same") changedAt = now;
			if (turn === "more") continue;
			await this.#sleep(pauseAfter(now - changedAt));
		}
		this.#running = false;
	}

	/** Gives each file a turn; returns the liveliest. */
	async #pass(): Promise<Turn> {
		let liveliest: Turn = "same";
		// Files that come meanwhile wait for the next pass: this one must end.
		for (const file of [...this.#files]) {
			const size = this.#sizeIfDue(file);
			if (size === undefined) continue;
			const turn = await this.#turn(file, size);
			if (turn === "same") continue;
			if (liveliest !== "more") liveliest = turn;
			// However much the workers print, the agent's own work comes between.
			await nextTurn();
		}
		return liveliest;
	}

	/** Undefined where there is nothing to do: most files are quiet most of the time. */
	#sizeIfDue(file: FollowedFile): number | undefined {
		try {
			const size = file.size();
			return this.#viewer.isDue(file, size) ? size : undefined;
		} catch (error) {
			this.#lose(file, error);
			return undefined;
		}
	}

	async #turn(file: FollowedFile, size: number): Promise<Turn> {
		try {
			return await this.#viewer.show(file, size);
		} catch (error) {
			this.#lose(file, error);
			return "same";
		}
	}

	#lose(file: FollowedFile, error: unknown): void {
		if (!this.#files.delete(file)) return;
		file.settle();
		this.#logger.warn(`${file.path} is not shown: ${messageOf(error)}`);
	}

	#sleep(ms: number): Promise<void> {
		if (this.#hurried) return Promise.resolve();
		return new Promise((resolve) => {
			const at = onBeat(this.#clock.now() + ms, ms);
			const cancel = this.#clock.wakeAt(at, resolve);
			this.#endSleep = () => {
				cancel();
				resolve();
			};
		});
	}

	/** Ends the pause between two passes, or spares the next one. */
	#hurry(): void {
		this.#hurried = true;
		this.#endSleep();
	}
}

function pauseAfter(quietMs: number): number {
	const pauseMs = quietMs * PAUSE_PER_QUIET_TIME;
	return Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, pauseMs));
}
