import type { Clock } from "../base/clock.js";
import type { Logger } from "../base/logger.js";
import type { ColdKind, NextStart, StepSource } from "../model/index.js";
import type { GroupRegistry, WorkerSpec } from "../processes/index.js";

/** What is known of the node and its workers when starts are prepared. */
export interface AheadOptions {
	readonly clock: Clock;
	readonly log: Pick<Logger, "info" | "debug">;
	/** Undefined if this machine has none that works. */
	readonly setpriv: string | undefined;
	readonly registry: GroupRegistry;
	/** Workers of this node. */
	readonly workers: number;
	/** Nobody has asked for it: nothing is prepared where it saves little, nor said where it cannot be. */
	readonly isFrugal: boolean;
	/** The file that Node loads before the script. */
	readonly hook: string;
}

/** Why a start is cold. */
export interface ColdReason {
	readonly reason: string;
	readonly kind: ColdKind;
}

/** What is known of a start before it. */
export interface StartFacts {
	/** Why no process that waits can be taken; undefined if nothing is known against it. */
	readonly problem: ColdReason | undefined;
	/** What is otherwise in this start than in the one that was prepared. */
	readonly difference: string | undefined;
	/** How many processes wait. */
	readonly waiting: number;
}

export interface NextFacts extends Omit<StartFacts, "difference"> {
	readonly isImporting: boolean;
	/** What users see of what is prepared. */
	readonly shown: Pick<NextStart, "modules" | "bytes" | "waiting">;
}

export type ExitListener = (
	code: number | null,
	signal: NodeJS.Signals | null,
) => void;

/** A process that was prepared, and was told which worker it is. */
export interface PreparedWorker {
	readonly pid: number;
	readonly parentId: number;
	/** In words, why it has not become the worker; undefined if it has. */
	readonly failure: string | undefined;
	once(event: "exit", listener: ExitListener): this;
}

/** Learns from workers that were started cold. */
export interface Learning {
	/** This worker will be started. */
	prepare(spec: WorkerSpec): void;
	/** It was started. */
	begin(worker: { readonly pid: number; readonly spec: WorkerSpec }): void;
	/** It has made a step. */
	stepped(pid: number, source: StepSource): void;
	gone(pid: number): void;
}

/** Prepares processes ahead of the workers' starts; each kind of program has its own way. */
export interface Ahead {
	/** In words, what a worker is spared that starts warm. */
	readonly done: string;
	/** A worker that was started cold, and fails within so long, would have failed as early when it was started warm. */
	readonly earlyMs: number;
	/** Undefined: there is nothing to learn. */
	readonly learning?: Learning;
	/** Called when workers may start otherwise than before. */
	onChange: () => void;
	factsOf(spec: WorkerSpec): StartFacts;
	readonly next: NextFacts;
	/** Makes a process that waits this worker, where nothing in `factsOf` is against it; undefined if its output cannot be passed on. */
	take(spec: WorkerSpec): PreparedWorker | undefined;
	/** This worker starts cold. */
	startsCold(spec: WorkerSpec): void;
	/** This worker is being started: prepares for its successor once the round has begun. */
	prepareNext(spec: WorkerSpec): void;
	/** A worker has ended: a start may follow soon. */
	expectStart?(): void;
	/** Whether this process was prepared, and waits: no worker has left it behind. */
	isOwn(pid: number): boolean;
	close(): void;
}
