import type { Clock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import type { Logger } from "../base/logger.js";
import type { NextStart } from "../model/start.js";
import type {
	RunningWorkers,
	WorkerHandle,
	WorkerListener,
	WorkerSpawner,
	WorkerSpec,
} from "../processes/index.js";
import { availableMemory } from "./available-memory.js";
import { ParkedNode } from "./parked-node.js";
import {
	nextParkedStart,
	parkedOrCold,
	parkingProblem,
	parkingShortage,
} from "./parked-or-cold.js";
import { QuickRounds } from "./quick-rounds.js";
import { StartNotes, type StartSource } from "./start-notes.js";
import type { ColdReason, WarmDecision } from "./warm-or-cold.js";

export interface ParkingSpawnerOptions {
	readonly clock: Clock;
	readonly log: Pick<Logger, "info" | "debug">;
	readonly setpriv: string | undefined;
	readonly running: RunningWorkers;
	/** Starts workers in the usual way. */
	readonly cold: WorkerSpawner;
	/** Workers of this node. */
	readonly workers: number;
	/** The file that Node loads before the script. */
	readonly hook: string;
}

/**
 * When a worker's successor is started, in milliseconds after the worker's start: once the round runs, one rank after
 * another, because each takes a processor for a moment.
 */
const PARK_AFTER_MS = 1_000;
const PARK_PER_RANK_MS = 100;
const NO_SETPRIV =
	"warm starts need Linux, and setpriv of util-linux 2.33 or later";

/** Starts Node workers ahead, one for each local rank: they wait before their script. */
export class ParkingSpawner implements WorkerSpawner, StartSource {
	private readonly parked = new Map<number, ParkedNode>();
	private readonly pending = new Map<number, () => void>();
	private readonly quick = new QuickRounds();
	private said: string | undefined;
	private shortage: string | undefined;
	private readonly notes = new StartNotes();
	private started: WorkerSpec | undefined;
	private onParked: () => void = () => {};

	constructor(private readonly options: ParkingSpawnerOptions) {}

	spawn(spec: WorkerSpec, listener: WorkerListener): WorkerHandle {
		const { localRank } = spec;
		const waiting = this.parked.get(localRank);
		const decision = this.decide(spec, waiting);
		this.tell(spec, decision);
		this.started = spec;
		this.notes.note(spec, decision.start === "cold" ? decision : undefined);
		this.parked.delete(localRank);
		this.parkLater(spec);
		if (decision.start === "warm" && waiting !== undefined) {
			return this.take(waiting, spec, listener);
		}
		waiting?.close();
		return this.options.cold.spawn(spec, {
			...listener,
			exited: (exit, groupRemains) => {
				this.quick.noteColdEnd(exit);
				listener.exited(exit, groupRemains);
			},
		});
	}

	startsIn(round: number) {
		return this.notes.in(round);
	}

	get next(): NextStart {
		const { parked, quick } = this;
		const problem = this.started && this.problemOf(this.started);
		const facts = { problem, quickFailures: quick.count };
		const states = [...parked.values()].map(({ state }) => state);
		return nextParkedStart(facts, states, this.options.workers);
	}

	set onChange(listener: () => void) {
		this.notes.onChange = listener;
		this.onParked = listener;
	}

	/** Whether this process waits for its place: no worker has left it behind. */
	isOwn(pid: number): boolean {
		return [...this.parked.values()].some((one) => one.pid === pid);
	}

	close(): void {
		for (const cancel of this.pending.values()) cancel();
		for (const waiting of this.parked.values()) waiting.close();
		this.parked.clear();
	}

	private decide(
		spec: WorkerSpec,
		waiting: ParkedNode | undefined,
	): WarmDecision {
		return parkedOrCold({
			problem: this.problemOf(spec),
			parked: waiting?.state ?? "none",
			difference: waiting?.differenceFrom(spec),
			quickFailures: this.quick.count,
		});
	}

	private problemOf({ args, env }: WorkerSpec): ColdReason | undefined {
		const { setpriv, hook } = this.options;
		if (setpriv === undefined) {
			return { kind: "machine", reason: NO_SETPRIV };
		}
		const reason = parkingProblem(args, hook, env.NODE_OPTIONS);
		if (reason !== undefined) return { kind: "command", reason };
		const { shortage } = this;
		return shortage === undefined
			? undefined
			: { kind: "memory", reason: shortage };
	}

	private take(
		waiting: ParkedNode,
		spec: WorkerSpec,
		listener: WorkerListener,
	): WorkerHandle {
		const { running, clock } = this.options;
		const startedAt = clock.now();
		waiting.start(spec);
		return running.follow(
			{ child: waiting, pid: waiting.pid, startedAt },
			{
				...listener,
				exited: (exit, groupRemains) => {
					if (!waiting.isStarted && !exit.signalledByAgent) {
						const message = "the process that was started ahead has ended";
						listener.spawnFailed({ code: "EAGAIN", message });
						return;
					}
					this.quick.noteEnd(exit, spec.env.ELASTIC_RUN_ROUND);
					listener.exited(exit, groupRemains);
				},
			},
			"warm",
		);
	}

	/** Starts this worker's successor once the round has begun. */
	private parkLater(spec: WorkerSpec): void {
		const { clock } = this.options;
		const { localRank } = spec;
		this.pending.get(localRank)?.();
		if (this.problemOf(spec) !== undefined && this.shortage === undefined)
			return;
		const at = clock.now() + PARK_AFTER_MS + PARK_PER_RANK_MS * localRank;
		const cancel = clock.wakeAt(at, () => this.park(spec));
		this.pending.set(localRank, cancel);
	}

	private park(spec: WorkerSpec): void {
		const { setpriv, workers, log, hook } = this.options;
		const missing = workers - this.parked.size;
		this.shortage = parkingShortage(missing, availableMemory());
		const streams = this.shortage === undefined ? spec.openNext?.() : undefined;
		if (streams === undefined || setpriv === undefined) return;
		try {
			const waiting = new ParkedNode(spec, streams, hook, setpriv);
			this.parked.set(spec.localRank, waiting);
		} catch (error) {
			log.debug(`no process was started ahead: ${messageOf(error)}`);
		} finally {
			this.onParked();
			streams.close();
		}
	}

	private tell({ env }: WorkerSpec, { start, reason }: WarmDecision): void {
		const round = env.ELASTIC_RUN_ROUND ?? "";
		const words = `round ${round}: workers start ${start}: ${reason}`;
		if (this.said === words) return;
		const { log } = this.options;
		// The first start is always cold.
		if (this.said === undefined) log.debug(words);
		else log.info(words);
		this.said = words;
	}
}
