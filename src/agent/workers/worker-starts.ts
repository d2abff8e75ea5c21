import type { Clock } from "../../base/clock.js";
import { isShortage, messageOf, systemErrorCode } from "../../base/errors.js";
import type { Logger } from "../../base/logger.js";
import type { SpawnProblem } from "../../processes/index.js";
import type { RoundRecord } from "../../rendezvous/index.js";
import type { AgentInput } from "../machine/inputs.js";
import type { Worker } from "./worker.js";
import type { Workplace } from "./workplace.js";

export interface WorkerStartsOptions {
	readonly clock: Clock;
	readonly workplace: Pick<Workplace, "prepare" | "listen">;
	/**
	 * Whether this node has its lease at this moment: an agent that was frozen, or whose machine slept, may not have
	 * noticed its loss. If it has none, the agent is notified first.
	 */
	readonly holdsLease: () => boolean;
	/** The control group's count of out-of-memory kills. */
	readonly readOomKills: () => number | undefined;
	/** Logs what this node lacks to start workers, and later starts. */
	readonly log: Pick<Logger, "info" | "warn">;
	readonly dispatch: (input: AgentInput) => void;
}

/**
 * How many workers are prepared, and then spawned, at a time. After a fork the next writes to memory are slow, so little
 * else should happen between two forks; but each worker that waits for its spawn holds two descriptors.
 */
const BATCH = 32;

/**
 * How long workers are spawned before all else has its turn, in milliseconds: where a spawn takes a second, the lease would
 * lapse behind six of them.
 */
const SLICE_MS = 250;

/** How long the starts of a round are retried, in milliseconds. */
const PATIENCE_MS = 20_000;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 4_000;

/** Starts the workers of one round. If this node lacks something for that, it retries after growing delays. */
export class WorkerStarts {
	private startAll: (workers: readonly Worker[]) => void = () => {};
	/** Tells once that all have been tried; undefined: it has. */
	private tellTried: (() => void) | undefined;
	private readonly waiting = new Set<Worker>();
	private giveUpAt: number | undefined;
	private delayMs = FIRST_DELAY_MS;
	private cancelTimer = () => {};

	constructor(private readonly options: WorkerStartsOptions) {}

	/**
	 * @param onFirst called just before the first of them is spawned
	 * @param onTried called once: each was spawned, or lacks something, or is no longer wanted
	 */
	begin(
		round: RoundRecord,
		workers: readonly Worker[],
		onFirst: () => void,
		onTried: () => void,
	): void {
		const { workplace, readOomKills } = this.options;
		const oomKills = readOomKills();
		this.startAll = (some) => {
			const { clock } = this.options;
			const endsAt = clock.now() + SLICE_MS;
			const rest = inBatches(
				some,
				BATCH,
				({ info }) => workplace.prepare(info, round),
				(worker, files) => {
					if (worker === workers[0]) onFirst();
					worker.spawn(files, oomKills, (problem) =>
						this.spawnFailed(worker, problem),
					);
				},
				() => clock.now() > endsAt,
			);
			if (rest?.error !== undefined) this.unprepared(rest.left, rest.error);
			workplace.listen();
			if (rest !== undefined && rest.error === undefined)
				this.startSoon(rest.left);
			else this.tried();
		};
		this.reset();
		this.tellTried = onTried;
		this.startAll(workers);
	}

	/** The worker is no longer wanted. Returns whether its start was pending. */
	cancel(worker: Worker): boolean {
		const wasWaiting = this.waiting.delete(worker);
		if (this.waiting.size === 0) {
			this.cancelTimer();
			this.tried();
		}
		return wasWaiting;
	}

	private tried(): void {
		const tell = this.tellTried;
		this.tellTried = undefined;
		tell?.();
	}

	/** Retries are timed from the first start of the round that fails. */
	private reset(): void {
		this.cancelTimer();
		this.waiting.clear();
		this.giveUpAt = undefined;
		this.delayMs = FIRST_DELAY_MS;
	}

	/** The first of these could not be prepared. */
	private unprepared(workers: readonly Worker[], error: unknown): void {
		const code = shortageOf(error) ?? "UNPREPARED";
		const problem = { code, message: messageOf(error) };
		if (this.startsAgain(workers, problem)) return;
		for (const [index, { info }] of workers.entries()) {
			const { localRank } = info;
			if (index === 0) this.giveUp(localRank, problem);
			this.options.dispatch({ kind: "worker-gone", localRank });
		}
	}

	/** Those that wait because of a shortage come with them. */
	private startSoon(workers: readonly Worker[]): void {
		for (const worker of workers) this.waiting.add(worker);
		this.cancelTimer();
		this.startAt(this.options.clock.now());
	}

	/** Returns whether it is tried again. */
	private spawnFailed(worker: Worker, problem: SpawnProblem): boolean {
		if (!worker.isToEnd && this.startsAgain([worker], problem)) return true;
		this.giveUp(worker.info.localRank, problem);
		return false;
	}

	private giveUp(localRank: number, { code, message }: SpawnProblem): void {
		const tried = ` (tried again for ${PATIENCE_MS / 1_000} s)`;
		const words = isShortage(code) ? message + tried : message;
		const problem = { code, message: words };
		this.options.dispatch({ kind: "worker-not-started", localRank, problem });
	}

	/** False for a problem that does not pass, or if this node has lacked something for too long. */
	private startsAgain(
		workers: readonly Worker[],
		{ code, message }: SpawnProblem,
	): boolean {
		const [first] = workers;
		if (first === undefined || !isShortage(code)) return false;
		const now = this.options.clock.now();
		this.giveUpAt ??= now + PATIENCE_MS;
		if (now >= this.giveUpAt) return false;
		const problem = `rank ${first.info.rank} cannot be started: ${message}`;
		if (this.waiting.size === 0) this.startLater(now, this.giveUpAt, problem);
		for (const worker of workers) this.waiting.add(worker);
		return true;
	}

	private startLater(now: number, giveUpAt: number, problem: string): void {
		const at = Math.min(now + this.delayMs, giveUpAt);
		this.delayMs = Math.min(2 * this.delayMs, LONGEST_DELAY_MS);
		this.startAt(at);
		const inSeconds = Math.round((at - now) / 10) / 100;
		const leftSeconds = Math.ceil((giveUpAt - now) / 1_000);
		this.options.log.warn(
			`${problem}; the start is tried again in ${inSeconds} s, for at most ${leftSeconds} s more`,
		);
	}

	private startAt(at: number): void {
		const { clock, holdsLease } = this.options;
		this.cancelTimer = clock.wakeAt(at, () => {
			// Its loss, if it is found now, cancels what waits.
			if (!holdsLease()) {
				if (this.waiting.size > 0) this.startAt(clock.now() + FIRST_DELAY_MS);
				return;
			}
			const workers = [...this.waiting];
			const areLate = this.tellTried === undefined;
			this.waiting.clear();
			this.startAll(workers);
			if (areLate) this.logLate(workers);
		});
	}

	private logLate(workers: readonly Worker[]): void {
		const pids = workers.flatMap(({ result }) => result.pid ?? []);
		const round = workers[0]?.info.round;
		if (pids.length === 0) return;
		const words = `round ${round}: started ${pids.length} more`;
		this.options.log.info(words, { round, pids });
	}
}

/** The code of a shortage in an error or its causes; undefined if there is none. */
function shortageOf(error: unknown): string | undefined {
	for (let cause = error; cause instanceof Error; cause = cause.cause) {
		const code = systemErrorCode(cause);
		if (code !== undefined && isShortage(code)) return code;
	}
	return undefined;
}

/**
 * Prepares one item, uses it, then prepares and uses two, four, up to `most` at a time. If an item's preparation throws,
 * it is tried once more alone after the items before it were used, because they may have held what it needed. The loop
 * ends early if it throws again, or if `isTimeUp` says so between two batches.
 *
 * @returns the items that were not used, the failed one first, and its error if there is one; undefined if all were used.
 */
export function inBatches<Item, Prepared>(
	items: readonly Item[],
	most: number,
	prepare: (item: Item) => Prepared,
	use: (item: Item, prepared: Prepared) => void,
	isTimeUp: () => boolean,
): { readonly error?: unknown; readonly left: readonly Item[] } | undefined {
	let size = 1;
	for (let left = items; left.length > 0; size = Math.min(2 * size, most)) {
		const ready: [Item, Prepared][] = [];
		try {
			for (const item of left.slice(0, size)) ready.push([item, prepare(item)]);
		} catch (error) {
			if (ready.length === 0) return { error, left };
		}
		for (const [item, prepared] of ready) use(item, prepared);
		left = left.slice(ready.length);
		if (left.length > 0 && isTimeUp()) return { left };
	}
	return undefined;
}
