import { onBeat } from "../base/clock.js";
import { durationInWords } from "../config/index.js";
import {
	hasEnded,
	hintOn,
	type RaisedException,
	readException,
	traceOf,
	traceWords,
} from "../failures/index.js";
import { isRunning, type NodeProcess, type NodeState } from "../steps/index.js";
import type { WatchedNode } from "./evidence.js";
import type { OnHung } from "./hang-inquiry.js";
import { hookPathsOf } from "./hook.js";

/** How often it looks whether a worker has raised an exception, in milliseconds. */
const LOOK_EVERY_MS = 1_000;

/** In this part of the limit frameworks often close their groups: nothing is said of it. */
const USUAL_PART = 3;

export interface ExitWatchOptions extends WatchedNode {
	/** 0: a worker may take as long as it wants. */
	readonly exitMs: number;
	/** The worker's last step. */
	readonly stepOf: (localRank: number) => number | undefined;
	readonly onHung: OnHung;
}

/** An exception after which its process should end. */
interface Seen {
	readonly raised: RaisedException;
	/** When it was seen, on the clock. */
	readonly at: number;
	isWarned: boolean;
	isOver: boolean;
}

/**
 * Fails a worker that has not ended so long after its uncaught exception: another thread of it, or a library that waits for
 * the other workers, keeps it. One that ends is explained by its exit.
 */
export class ExitWatch {
	/** By channel directory: no two processes have the same. */
	private readonly seen = new Map<string, Seen>();
	private node: NodeState | undefined;
	private cancel: (() => void) | undefined;

	constructor(private readonly options: ExitWatchOptions) {}

	/** Takes each new state of the node. It looks only while a round runs. */
	follow(node: NodeState): void {
		this.node = node;
		const isOn = node.phase === "RUNNING" && this.options.exitMs > 0;
		if (isOn && this.cancel === undefined) this.lookLater();
		if (!isOn) this.close();
	}

	readonly close = (): void => {
		this.cancel?.();
		this.cancel = undefined;
	};

	private lookLater(): void {
		const { clock, exitMs } = this.options;
		const now = clock.now();
		const due = [...this.seen.values()]
			.filter(({ isOver }) => !isOver)
			.map(({ at }) => at + exitMs);
		const usual = onBeat(now + LOOK_EVERY_MS, LOOK_EVERY_MS);
		this.cancel = clock.wakeAt(Math.min(usual, ...due), () => {
			this.cancel = undefined;
			this.look();
			if (this.node?.phase === "RUNNING" && this.cancel === undefined) {
				this.lookLater();
			}
		});
	}

	private look(): void {
		const { clock, processes } = this.options;
		const now = clock.now();
		const present = processes();
		for (const directory of this.seen.keys()) {
			const isIt = (one: NodeProcess) => one.directory === directory;
			if (!present.some(isIt)) this.seen.delete(directory);
		}
		for (const process of present) {
			const seen = this.seen.get(process.directory);
			if (seen === undefined) this.findIn(process, now);
			else if (!seen.isOver) this.judge(process, seen, now);
		}
	}

	private findIn(process: NodeProcess, at: number): void {
		const { directory } = process;
		const raised = readException(hookPathsOf(process));
		if (raised === undefined || !raised.ends || hasEnded(raised)) return;
		this.seen.set(directory, { raised, at, isWarned: false, isOver: false });
	}

	private judge(process: NodeProcess, seen: Seen, now: number): void {
		const { log, cwd, exitMs, stepOf, onHung } = this.options;
		const { raised, at } = seen;
		if (hasEnded(raised)) {
			seen.isOver = true;
			return;
		}
		const trace = traceOf(raised, cwd);
		const description = traceWords(trace);
		const limit = durationInWords(exitMs);
		if (now - at < exitMs) {
			if (seen.isWarned || now - at < exitMs / USUAL_PART) return;
			seen.isWarned = true;
			log.warn(
				`rank ${process.rank} does not end after ${description}: it has failed unless it ends within ${limit} (--exit-timeout)`,
			);
			return;
		}
		seen.isOver = true;
		if (!isRunning(this.node)) return;
		const known = hintOn({ trace, message: raised.message, stderr: "" });
		const held = `it had not ended ${limit} after its exception (--exit-timeout): another thread of it, or a library that waits for other workers, kept it; so it was killed`;
		onHung(process, {
			round: this.node.round,
			cause: "crash",
			description,
			trace,
			hint: known === undefined ? held : `${held}\n${known.hint}`,
			stillMs: now - at,
			failsRun: false,
			step: stepOf(process.localRank),
		});
	}
}
