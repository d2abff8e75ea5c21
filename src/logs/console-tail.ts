import type { Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Clock, onBeat } from "../base/clock.js";
import { messageOf, systemErrorCode } from "../base/errors.js";
import type { Logger } from "../base/logger.js";
import { ConsoleTarget } from "./console-target.js";
import { FileViewer, type Turn } from "./file-viewer.js";
import { FileWarnings } from "./file-warnings.js";
import { FollowedFile } from "./followed-file.js";
import { HeldFile } from "./held-file.js";

export interface ConsoleOptions {
	readonly clock: Clock;
	readonly stdout: Writable;
	readonly stderr: Writable;
	/** Only on a terminal does a tail that lags more than 16 MiB skip output, with a notice. */
	readonly stdoutIsTerminal: boolean;
	readonly stderrIsTerminal: boolean;
	/** Logs each lost stream and each unreadable file once. */
	readonly logger: Logger;
	/** Receives why the time of a worker's lines could not be written beside them. */
	readonly onTimesError?: (error: unknown) => void;
}

export interface FollowRequest {
	readonly path: string;
	/** The file, which may be held open. Default: it is opened by its path for each read. */
	readonly file?: HeldFile;
	/** Where to begin, in bytes: the file's size before its worker was started. */
	readonly from: number;
	readonly target: "stdout" | "stderr";
	/** Precedes each line: see `renderPrefix`. */
	readonly prefix: Uint8Array;
	/** Whose file it is, where its stack is named later: "rank 0, round 1". */
	readonly owner: string;
}

/** A file that is shown. */
export interface Followed {
	/** Sets the prefix and the owner of further lines. */
	rename(prefix: Uint8Array, owner: string): void;
	/** Call it after the last write: shows the rest, including an unfinished last line, and closes the file. */
	finish(): Promise<void>;
}

/** Shows the workers' files on the launcher's streams as they grow. */
export interface WorkerConsole {
	follow(request: FollowRequest): Followed;
	/** Resolves once the present content of all files was shown, however slow the console. */
	drain(): Promise<void>;
	/** Stops at once and ends every wait. What was not shown stays in the files. */
	close(): void;
}

/**
 * A tail that reads the files in turns. Memory use stays constant and no worker is slowed down: the tail lags instead. It
 * writes whole lines and never mixes lines of different workers.
 */
export function createConsole(options: ConsoleOptions): WorkerConsole {
	return new ConsoleTail(options);
}

class ConsoleTail implements WorkerConsole {
	private readonly clock: Clock;
	private readonly logger: Logger;
	private readonly onTimesError: (error: unknown) => void;
	private readonly targets: Readonly<
		Record<"stdout" | "stderr", ConsoleTarget>
	>;
	private readonly viewer: FileViewer;
	private readonly files = new Set<FollowedFile>();
	private running = false;
	private closed = false;
	private readonly warnings: FileWarnings;
	private readonly pause: PassPause;

	constructor(options: ConsoleOptions) {
		this.clock = options.clock;
		this.pause = new PassPause(options.clock);
		this.logger = options.logger;
		this.warnings = new FileWarnings(options.logger);
		this.onTimesError = options.onTimesError ?? (() => {});
		const stdout = this.open("stdout", options.stdout);
		const stderr = this.open("stderr", options.stderr);
		this.targets = { stdout, stderr };
		const terminals = new Set<ConsoleTarget>();
		if (options.stdoutIsTerminal) terminals.add(stdout);
		if (options.stderrIsTerminal) terminals.add(stderr);
		this.viewer = new FileViewer(options.clock, terminals, this.warnings);
	}

	follow(request: FollowRequest): Followed {
		const { from, target, prefix, owner } = request;
		const file = new FollowedFile({
			file: request.file ?? new HeldFile(request.path),
			from,
			prefix,
			owner,
			target: this.targets[target],
			now: this.clock.now(),
			wallTime: this.clock.wallTime(),
			onTimesError: this.onTimesError,
		});
		if (!this.closed) this.files.add(file);
		this.pause.end();
		if (!this.running) void this.run();
		return {
			rename: (otherPrefix, otherOwner) => {
				file.prefix = otherPrefix;
				file.owner = otherOwner;
			},
			finish: () => this.finish(file),
		};
	}

	private async finish(file: FollowedFile): Promise<void> {
		await this.flush(file);
		this.files.delete(file);
		// Nothing more comes of this file, so its waits end.
		file.settle();
		this.pause.end();
	}

	async drain(): Promise<void> {
		await Promise.all([...this.files].map((file) => this.flush(file)));
	}

	close(): void {
		this.closed = true;
		for (const file of this.files) file.settle();
		this.files.clear();
		this.targets.stdout.release();
		this.targets.stderr.release();
		this.pause.end();
	}

	private open(name: "stdout" | "stderr", stream: Writable): ConsoleTarget {
		return new ConsoleTarget(stream, (error) => {
			const why = systemErrorCode(error) ?? messageOf(error);
			this.logger.warn(
				`${name} is gone (${why}): the workers' lines go to their files only`,
			);
		});
	}

	/** Never rejects: if the system cannot read a file any more, the file is given up, not the run. */
	private flush(file: FollowedFile): Promise<void> {
		if (!this.files.has(file)) return Promise.resolve();
		this.pause.end();
		return file
			.flush(this.clock.wallTime())
			.catch((error) => this.lose(file, error));
	}

	private async run(): Promise<void> {
		this.running = true;
		let changedAt = this.clock.now();
		while (this.files.size > 0) {
			this.pause.begin();
			const turn = await this.pass();
			const now = this.clock.now();
			if (turn !== "same") changedAt = now;
			if (turn === "more") continue;
			await this.pause.sleep(now - changedAt);
		}
		this.running = false;
	}

	/** Gives each file a turn; returns the busiest result. */
	private async pass(): Promise<Turn> {
		let liveliest: Turn = "same";
		// Files added during this pass wait for the next one: this one must end.
		for (const file of [...this.files]) {
			const size = this.sizeIfDue(file);
			if (size === undefined) continue;
			const turn = await this.turn(file, size);
			if (turn === "same") continue;
			if (liveliest !== "more") liveliest = turn;
			// However much the workers print, the agent's other work runs in between.
			await nextTurn();
		}
		return liveliest;
	}

	/** Undefined if there is nothing to do: most files are quiet most of the time. */
	private sizeIfDue(file: FollowedFile): number | undefined {
		try {
			const { size, isAway } = file.look(this.clock.wallTime());
			if (isAway) this.warnings.away(file.path);
			return this.viewer.isDue(file, size) ? size : undefined;
		} catch (error) {
			this.lose(file, error);
			return undefined;
		}
	}

	private async turn(file: FollowedFile, size: number): Promise<Turn> {
		try {
			return await this.viewer.show(file, size);
		} catch (error) {
			this.lose(file, error);
			return "same";
		}
	}

	private lose(file: FollowedFile, error: unknown): void {
		if (!this.files.delete(file)) return;
		file.settle();
		this.logger.warn(`${file.path} is not shown: ${messageOf(error)}`);
	}
}

/** The pause while files change … */
const SHORTEST_PAUSE_MS = 50;
/** … which grows while they are quiet: it is this part of the quiet time. */
const PAUSE_PER_QUIET_TIME = 1 / 8;
const LONGEST_PAUSE_MS = 2_000;

/** The pause between two passes over the shown files. */
class PassPause {
	private readonly clock: Clock;
	private hurried = false;
	private endSleep: () => void = () => {};

	constructor(clock: Clock) {
		this.clock = clock;
	}

	/** Begins a pass: later requests are for the next one. */
	begin(): void {
		this.hurried = false;
	}

	/** @param quietMs how long no file has changed */
	sleep(quietMs: number): Promise<void> {
		if (this.hurried) return Promise.resolve();
		const ms = Math.min(
			LONGEST_PAUSE_MS,
			Math.max(SHORTEST_PAUSE_MS, quietMs * PAUSE_PER_QUIET_TIME),
		);
		return new Promise((resolve) => {
			const at = onBeat(this.clock.now() + ms, ms);
			const cancel = this.clock.wakeAt(at, resolve);
			this.endSleep = () => {
				cancel();
				resolve();
			};
		});
	}

	/** Ends the pause, or skips the next one. */
	end(): void {
		this.hurried = true;
		this.endSleep();
	}
}
