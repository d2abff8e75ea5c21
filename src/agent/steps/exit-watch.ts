import { join } from "node:path";
import { onBeat } from "../../base/clock.js";
import { channelPaths, hookPaths } from "../../channel/layout.js";
import { durationInWords } from "../../config/parse/scalars.js";
import {
	hasEnded,
	type RaisedException,
	readException,
	traceOf,
} from "../../evidence/exception.js";
import { traceWords } from "../../evidence/parse-trace.js";
import { readErrorFile } from "../../status/error-file.js";
import type { AgentState } from "../machine/state.js";
import type { WorkerProcess } from "../workers/worker-process.js";
import type { HangInquiryOptions } from "./hang-inquiry.js";
import { hungWorker } from "./hung-worker.js";

/** How often it looks whether a worker has raised an exception, in milliseconds. */
const LOOK_EVERY_MS = 1_000;

export interface ExitWatchOptions
	extends Pick<
		HangInquiryOptions,
		"clock" | "log" | "processes" | "dispatch" | "config"
	> {
	/** The worker's last step. */
	readonly stepOf: (localRank: number) => number | undefined;
}

/** An exception after which its process should end. */
interface Seen {
	readonly raised: RaisedException;
	/** When it was seen, on the clock. */
	readonly at: number;
	isTold: boolean;
	isOver: boolean;
}

/**
 * Fails a worker that has not ended so long after its uncaught exception: another thread of it, or a library that waits for
 * the other workers, keeps it. One that ends is explained by its exit.
 */
export class ExitWatch {
	/** By channel directory: no two processes have the same. */
	private readonly seen = new Map<string, Seen>();
	private state: AgentState | undefined;
	private cancel: (() => void) | undefined;

	constructor(private readonly options: ExitWatchOptions) {}

	/** Takes each new state of the agent. It looks only while a round runs. */
	follow(state: AgentState): void {
		this.state = state;
		const isOn = state.phase === "RUNNING" && this.exitMs > 0;
		if (isOn && this.cancel === undefined) this.lookLater();
		if (!isOn) this.close();
	}

	readonly close = (): void => {
		this.cancel?.();
		this.cancel = undefined;
	};

	private get exitMs(): number {
		return this.options.config.steps.exitMs;
	}

	private lookLater(): void {
		const { clock } = this.options;
		const now = clock.now();
		const due = [...this.seen.values()]
			.filter(({ isOver }) => !isOver)
			.map(({ at }) => at + this.exitMs);
		const usual = onBeat(now + LOOK_EVERY_MS, LOOK_EVERY_MS);
		this.cancel = clock.wakeAt(Math.min(usual, ...due), () => {
			this.cancel = undefined;
			this.look();
			if (this.state?.phase === "RUNNING" && this.cancel === undefined) {
				this.lookLater();
			}
		});
	}

	private look(): void {
		const { clock, processes } = this.options;
		const now = clock.now();
		const present = processes();
		for (const directory of this.seen.keys()) {
			const isIt = (one: WorkerProcess) => one.directory === directory;
			if (!present.some(isIt)) this.seen.delete(directory);
		}
		for (const process of present) {
			const seen = this.seen.get(process.directory);
			if (seen === undefined) this.findIn(process, now);
			else if (!seen.isOver) this.judge(process, seen, now);
		}
	}

	private findIn({ directory }: WorkerProcess, at: number): void {
		const raised = readException(hookPaths(channelPaths(directory).hook));
		if (raised === undefined || !raised.ends || hasEnded(raised)) return;
		this.seen.set(directory, { raised, at, isTold: false, isOver: false });
	}

	private judge(process: WorkerProcess, seen: Seen, now: number): void {
		const { config, log } = this.options;
		const { raised, at } = seen;
		if (hasEnded(raised)) {
			seen.isOver = true;
			return;
		}
		const trace = traceOf(raised, config.command.cwd);
		const description = traceWords(trace);
		const limit = durationInWords(this.exitMs);
		if (now - at >= this.exitMs) {
			seen.isOver = true;
			const hint = `it had not ended ${limit} after its exception (--exit-timeout): another thread of it, or a library that waits for other workers, kept it; so it was killed`;
			this.fail(process, { description, trace, hint, stillMs: now - at });
		} else if (!seen.isTold) {
			seen.isTold = true;
			log.warn(
				`rank ${process.rank} does not end after ${description}: it has failed unless it ends within ${limit} (--exit-timeout)`,
			);
		}
	}

	private fail(
		process: WorkerProcess,
		about: {
			readonly description: string;
			readonly trace: ReturnType<typeof traceOf>;
			readonly hint: string;
			readonly stillMs: number;
		},
	): void {
		const { clock, dispatch, stepOf } = this.options;
		const { state } = this;
		if (state?.phase !== "RUNNING") return;
		const { logs, localRank } = process;
		const error = logs && readErrorFile(join(logs.directory, "error.json"));
		const { lastLines, ...worker } = hungWorker(process, clock.now());
		dispatch({
			...{ kind: "worker-hung", round: state.round, cause: "crash" },
			...{ ...worker, ...about, error, failsRun: false },
			lastLines: error ? undefined : lastLines,
			step: stepOf(localRank),
		});
	}
}
