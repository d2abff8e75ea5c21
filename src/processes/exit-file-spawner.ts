import { readFileSync, rmSync } from "node:fs";
import type { Clock } from "../base/clock.js";
import { systemErrorCode } from "../base/errors.js";
import type { WorkerListener, WorkerSpawner } from "./worker.js";

/** How often the file is looked at, in milliseconds. */
const LOOK_EVERY_MS = 100;
const LARGEST_EXIT_CODE = 255;

export interface ExitFileSpawnerOptions {
	readonly clock: Clock;
	/** Absolute path of the file; undefined: nobody tells how the work ends. */
	readonly file: string | undefined;
	/** Receives a problem with the file, each time that it is met. */
	readonly warn: (message: string) => void;
}

interface Standing {
	readonly listener: WorkerListener;
	readonly since: number;
	cancelLook: () => void;
}

/**
 * Starts no process: somebody else runs the work, for example another container of the pod, and writes its exit code to a
 * file. Only one worker at a time.
 */
export class ExitFileSpawner implements WorkerSpawner {
	private standing: Standing | undefined;

	constructor(private readonly options: ExitFileSpawnerOptions) {}

	spawn(_: unknown, listener: WorkerListener) {
		const { clock, file } = this.options;
		// What a former round has left there is not this one's.
		if (file !== undefined) rmSync(file, { force: true });
		const since = clock.now();
		this.standing = { listener, since, cancelLook: () => {} };
		this.lookLater(this.standing);
		return {
			pid: undefined,
			signal: (signal: "SIGTERM" | "SIGKILL") => this.end(null, signal),
			passOn: () => false,
		};
	}

	/** Looks at the file now: what it says came before whatever comes next. */
	look(): void {
		const code = this.readCode();
		if (code !== undefined) this.end(code, null);
	}

	private lookLater(standing: Standing): void {
		const { clock, file } = this.options;
		if (file === undefined) return;
		standing.cancelLook = clock.wakeAt(clock.now() + LOOK_EVERY_MS, () => {
			this.look();
			if (this.standing === standing) this.lookLater(standing);
		});
	}

	private end(code: number | null, signal: NodeJS.Signals | null): void {
		const { standing } = this;
		if (standing === undefined) return;
		this.standing = undefined;
		standing.cancelLook();
		const { listener, since } = standing;
		const uptimeMs = this.options.clock.now() - since;
		const signalledByAgent = signal !== null;
		listener.exited({ code, signal, signalledByAgent, uptimeMs }, false);
		listener.gone();
	}

	/** Undefined if there is none yet. */
	private readCode(): number | undefined {
		const { file, warn } = this.options;
		if (file === undefined) return undefined;
		try {
			return exitCodeIn(readFileSync(file, "utf8"));
		} catch (error) {
			const code = systemErrorCode(error);
			if (code !== "ENOENT") warn(`${file} cannot be read: ${code}`);
			return undefined;
		}
	}
}

/** The exit code that a file says; undefined if it is not complete, or says something else. */
export function exitCodeIn(text: string): number | undefined {
	const digits = /^\s*(\d{1,3})\n/.exec(text)?.[1];
	const code = Number(digits ?? Number.NaN);
	return code <= LARGEST_EXIT_CODE ? code : undefined;
}
