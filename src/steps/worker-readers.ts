import type { Clock } from "../base/clock.js";
import {
	channelPaths,
	hookPaths,
	type ReceivedReply,
} from "../channel/index.js";
import type { BusyWorker, WorkerProgress } from "../model/index.js";
import type { NodeProcess } from "./node.js";
import { Arrivals } from "./pace.js";
import { type Announcement, WorkerReader } from "./worker-reader.js";
import { stepRate, type WorkerSteps } from "./worker-steps.js";

export interface WorkerReadersOptions {
	readonly pattern: RegExp;
	readonly processes: () => readonly NodeProcess[];
	readonly clock: Pick<Clock, "now" | "wallTime">;
	/** Called with each new step of the process that has this channel. */
	readonly onStep: (directory: string, steps: WorkerSteps) => void;
	/** Called when the hook of that process tells of a phase, or of its end. */
	readonly onPhase: (directory: string, told: Announcement, at: number) => void;
	/** Called once for a process whose reports had a loss, when it is no number any more. */
	readonly onLossGone: (
		process: NodeProcess,
		gone: { readonly name: string; readonly last: number },
	) => void;
}

/** A reader of the steps of each present worker process. */
export class WorkerReaders {
	/** By channel directory: no two processes have the same. */
	private readonly readers = new Map<string, WorkerReader>();
	private readonly arrivals = new Arrivals();
	/** The channel directories of processes whose loss is no number. */
	private readonly withoutLoss = new Set<string>();

	constructor(private readonly options: WorkerReadersOptions) {}

	/** When any of them last moved; undefined if none has. */
	get movedAt(): number | undefined {
		const readers = [...this.readers.values()];
		const times = readers.flatMap(({ movement }) => movement?.at ?? []);
		return times.length === 0 ? undefined : Math.max(...times);
	}

	/**
	 * Until when a worker has announced that no step comes, to the second, in milliseconds since 1970. It stays until the next
	 * step, also when the time is over: other nodes count their limit from it. Undefined if none has.
	 */
	get busyUntil(): number | undefined {
		const restMs = this.busyMs;
		if (restMs === Number.NEGATIVE_INFINITY) return undefined;
		const until = this.options.clock.wallTime() + restMs;
		return Math.round(until / 1_000) * 1_000;
	}

	get isBusy(): boolean {
		return this.busyMs > 0;
	}

	private get busyMs(): number {
		const readers = [...this.readers.values()];
		const until = readers.map(({ busyUntil }) => busyUntil);
		return Math.max(...until) - this.options.clock.now();
	}

	/** What workers do now while no step comes. */
	busy(): readonly BusyWorker[] {
		const now = this.options.clock.now();
		const wallTime = this.options.clock.wallTime();
		return this.options.processes().flatMap((process) => {
			const busy = this.of(process).busyAt(now);
			if (busy === undefined) return [];
			const { localRank } = process;
			const since = Math.round((wallTime - now + busy.since) / 1_000) * 1_000;
			return [{ localRank, what: busy.what, since }];
		});
	}

	/** How far the workers of the present round have come; only those that have made a step. */
	progress(): readonly WorkerProgress[] {
		const { clock, processes } = this.options;
		const now = clock.now();
		const wallTime = clock.wallTime();
		return processes().flatMap((process) => {
			const { steps, pace } = this.of(process);
			if (steps === undefined) return [];
			const { localRank, start } = process;
			const { step, source, metrics } = steps;
			const stepAt = Math.round(wallTime - (now - steps.at));
			return {
				localRank,
				step,
				source,
				stepAt,
				metrics,
				start,
				rate: stepRate(steps, now),
				pace: pace ?? this.arrivals.paceOf(localRank),
			};
		});
	}

	/**
	 * The furthest step of the present round; undefined if no worker counts steps, null if one has gone back.
	 */
	get furthest(): number | null | undefined {
		const counted = [...this.readers.values()].flatMap((reader) =>
			reader.movement !== undefined && reader.steps ? [reader.steps] : [],
		);
		if (counted.length === 0) return undefined;
		return counted.some(({ startsOver }) => startsOver)
			? null
			: Math.max(...counted.map(({ step }) => step));
	}

	/** The last step of the worker in this place, after a last look at it; undefined if it counts none, or has gone back. */
	stepOf(localRank: number): number | undefined {
		const { clock, processes } = this.options;
		const process = processes().find((one) => one.localRank === localRank);
		if (process === undefined) return undefined;
		const reader = this.of(process);
		// At it alone: where all end together, each is asked for.
		reader.look(clock.now());
		const { movement, steps } = reader;
		return movement && steps && !steps.startsOver ? steps.step : undefined;
	}

	/** Takes a report of this process; `now` on the agent's steady clock. */
	heard(
		process: NodeProcess,
		reply: ReceivedReply & { readonly kind: "PROGRESS" },
		now: number,
	): void {
		const reader = this.of(process);
		const gone = lossGone(reader.steps?.metrics ?? {}, reply);
		reader.heard(reply, now);
		if (reply.step === undefined) return;
		if (gone && !this.withoutLoss.has(process.directory)) {
			this.withoutLoss.add(process.directory);
			this.options.onLossGone(process, gone);
		}
		this.arrivals.note(process.localRank, reply.step, reply.timestamp);
	}

	/** Looks at what the workers have left, and forgets those that are not there any more. */
	look(): void {
		const now = this.options.clock.now();
		const processes = this.options.processes();
		const kept = new Set(processes.map(({ directory }) => directory));
		for (const directory of this.readers.keys()) {
			if (kept.has(directory)) continue;
			this.readers.delete(directory);
			this.withoutLoss.delete(directory);
		}
		for (const process of processes) this.of(process).look(now);
	}

	/** The reader of this process, made if it is new. */
	of({ directory, logs }: NodeProcess): WorkerReader {
		const known = this.readers.get(directory);
		const streams = [logs?.stdout, logs?.stderr];
		const { clock, pattern, onStep, onPhase } = this.options;
		const reader =
			known ??
			new WorkerReader({
				clock,
				pattern,
				hookFiles: hookPaths(channelPaths(directory).hook),
				outputs: streams.flatMap((stream) => stream ?? []),
				onStep: (steps) => onStep(directory, steps),
				onPhase: (told, at) => onPhase(directory, told, at),
			});
		this.readers.set(directory, reader);
		return reader;
	}

	/** The kept processes go on in another round. */
	beginRound(): void {
		this.arrivals.clear();
		for (const reader of this.readers.values()) reader.beginRound();
	}
}

/** A loss of the last report that is null in this one: JSON has no NaN, and no infinity. */
function lossGone(
	before: Readonly<Record<string, number>>,
	reply: ReceivedReply,
): { readonly name: string; readonly last: number } | undefined {
	const fields = new Map<string, unknown>(Object.entries(reply));
	const found = Object.entries(before).find(
		([name]) => /loss/i.test(name) && fields.get(name) === null,
	);
	return found && { name: found[0], last: found[1] };
}
