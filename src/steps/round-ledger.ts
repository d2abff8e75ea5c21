import type { Furthest, StartSource } from "../model/index.js";
import { type LedgerEntry, newEntry, recordOf } from "./ledger-entry.js";
import { LedgerWriter, type LedgerWriterOptions } from "./ledger-writer.js";
import { isRunning, type NodeState, type RunningNode } from "./node.js";
import {
	announcedBy,
	applyNews,
	beginWork,
	further,
	furthestOf,
	insertNews,
	noteAnnouncement,
	noteWorkerStep,
	type Work,
	type WorkNews,
	workUntil,
} from "./work.js";
import type { Announcement } from "./worker-reader.js";
import type { WorkerSteps } from "./worker-steps.js";

/** So late a report may be heard, in milliseconds: the newest of fast steps are read once a second. */
const LATE_MS = 2_000;
/** The end of a round is written within this time, in milliseconds, and not at once: no write delays a restart. */
const OVER_MS = 1_000;
/** How workers were started, and will be, is written within this time, in milliseconds. */
const STARTS_MS = 1_000;
/** What makes no steps, a round or a spare, is written so long after its begin, in milliseconds. */
const SILENT_MS = 10_000;
/** Later than the others write what they did, and before the first step is counted, in milliseconds. */
const ASK_AFTER_MS = 1_500;

export interface RoundLedgerOptions extends LedgerWriterOptions {
	readonly nodeId: string;
	/** When this agent came to the run, in milliseconds since 1970. */
	readonly arrivedAt: number;
	/** How far the run came before this agent, if the store knows it. Never rejects. */
	readonly readFurthest: (
		instance: number,
		round: number,
	) => Promise<Furthest | null>;
	/** How long the steps of a round have waited for slow ranks, in milliseconds. */
	readonly stragglerMs: (round: {
		readonly instance: number;
		readonly round: number;
	}) => number;
	/** How workers were started, and will be; undefined if that makes no difference. */
	readonly starts: Pick<StartSource, "startsIn" | "next"> | undefined;
	/** Forgets what all nodes did in rounds that are too old once this one begins. Never rejects. */
	readonly forgetBefore: (round: number) => Promise<void>;
}

/** Counts what a node's time is spent on, round by round, and keeps that in the store. */
export class RoundLedger {
	private readonly writer: LedgerWriter;
	private entry: LedgerEntry | undefined;
	/** What was heard lately and is not in the entry yet. */
	private news: readonly WorkNews[] = [];
	/** When each worker was last heard in this round, by its channel. */
	private readonly heardAt = new Map<string, number>();
	private furthest: Furthest | null = null;
	private cancelAsking: () => void = () => {};
	/** The channels of workers that have made a step in an earlier round. */
	private kept: ReadonlySet<string> = new Set();

	constructor(private readonly options: RoundLedgerOptions) {
		this.writer = new LedgerWriter(options);
	}

	/** Takes each new state of the node. */
	follow(node: NodeState): void {
		const { instance, view } = node;
		if (instance === null || view === null) return;
		const now = this.options.clock.now();
		if (isRunning(node)) {
			if (this.entry?.round === node.round && this.entry.work !== null) return;
			this.begin(instance, node, now);
			return;
		}
		if (this.entry === undefined && node.phase === "JOINING") {
			this.entry = newEntry(this.options, instance, node.claim);
			this.offer(SILENT_MS);
		}
		if (this.entry?.work == null) return;
		this.end(this.entry, this.entry.work, node, now);
	}

	/** Takes a step of the worker that has this channel. */
	readonly stepped = (directory: string, steps: WorkerSteps): void => {
		const { step, source } = steps;
		const at = this.inOrder(directory, steps.at);
		const isKept = this.kept.has(directory);
		const made = { worker: directory, step, source, isKept, at };
		this.take({ at, apply: (work) => noteWorkerStep(work, made) });
	};

	/** Takes a worker's report, after the step in it. */
	announced(directory: string, report: Announcement, saidAt: number): void {
		const { busy, for_seconds: seconds = 0 } = report;
		const at = this.inOrder(directory, saidAt);
		const kind = busy === undefined ? null : announcedBy(busy);
		const span = { at, forMs: seconds * 1_000 };
		const apply = (work: Work) => noteAnnouncement(work, directory, kind, span);
		this.take({ at, apply });
	}

	/** Workers were started, or the next ones will be started otherwise than before. */
	readonly startsChanged = (): void => this.offer(STARTS_MS);

	/** Two reports of the same millisecond must not change places. */
	private inOrder(directory: string, at: number): number {
		const inOrder = Math.max(at, this.heardAt.get(directory) ?? at);
		this.heardAt.set(directory, inOrder);
		return inOrder;
	}

	/** Writes what is left, once, with the time at which the agent left. Never rejects. */
	async close(): Promise<void> {
		this.cancelAsking();
		const { entry } = this;
		if (entry === undefined || entry.leftAt !== undefined) return;
		this.entry = { ...entry, leftAt: this.options.clock.wallTime() };
		this.offer(0);
		await this.writer.close();
	}

	/** Once the other nodes have written what they did in the rounds before. */
	private askSoon(instance: number, round: number): void {
		const { clock, readFurthest } = this.options;
		this.cancelAsking = clock.wakeAt(clock.now() + ASK_AFTER_MS, () => {
			void readFurthest(instance, round - 1).then((found) => {
				const { entry } = this;
				if (entry?.work?.steps !== null || entry.round !== round) return;
				const before = further(entry.work.before, found);
				this.entry = { ...entry, work: { ...entry.work, before } };
			});
		});
	}

	private begin(
		instance: number,
		{ round, seat }: RunningNode,
		now: number,
	): void {
		if (seat.groupRank === 0) void this.options.forgetBefore(round);
		this.heardAt.clear();
		const { entry: before } = this;
		if (before?.work) this.kept = new Set(before.work.last.keys());
		const hasMissed = before?.work == null || before.round < round - 1;
		if (round > 1 && hasMissed) this.askSoon(instance, round);
		this.entry = {
			...newEntry(this.options, instance, round),
			work: beginWork(now, this.furthest),
		};
		this.offer(SILENT_MS);
	}

	/** It has left the round, or some of its workers have ended since. */
	private end(
		entry: LedgerEntry,
		work: Work,
		{ phase, workers }: NodeState,
		now: number,
	): void {
		if (entry.ranUntil === null) {
			const done = workUntil(applyNews(work, this.news), now);
			this.news = [];
			this.furthest = furthestOf(done);
			const stragglerMs = this.options.stragglerMs(entry);
			this.entry = { ...entry, work: done, ranUntil: now, stragglerMs };
			this.offer(OVER_MS);
		}
		const isKept = workers.some(({ status }) => status === "paused");
		const after = isKept ? "paused" : undefined;
		if (phase === "FINISHED") this.stop(now, "finished");
		else if (phase === "JOINING") this.stop(now, after);
		else if (phase === "CLOSED") this.stop(now, undefined);
		else this.offer();
	}

	private stop(now: number, after: LedgerEntry["after"]): void {
		const { entry } = this;
		if (entry === undefined || entry.stoppedAt !== null) return;
		this.entry = { ...entry, stoppedAt: now, after };
		this.offer(after === "finished" ? 0 : undefined);
	}

	private take(heard: WorkNews): void {
		const { entry } = this;
		if (entry?.work == null || entry.ranUntil !== null) return;
		this.news = insertNews(this.news, heard);
		const latest = this.options.clock.now() - LATE_MS;
		const settled = this.news.filter(({ at }) => at <= latest);
		this.news = this.news.slice(settled.length);
		this.entry = { ...entry, work: applyNews(entry.work, settled) };
		this.offer();
	}

	private offer(withinMs?: number): void {
		const { entry, news } = this;
		if (entry === undefined) return;
		const { clock, stragglerMs, starts: source } = this.options;
		const make = () => {
			const starts = source?.startsIn(entry.round);
			const isOver = entry.ranUntil !== null;
			const waitedMs = isOver ? entry.stragglerMs : stragglerMs(entry);
			const ahead = { starts, nextStart: source?.next };
			const known = { ...entry, ...ahead, stragglerMs: waitedMs };
			return recordOf(known, news, clock.now(), clock.wallTime());
		};
		this.writer.offer(entry.round, make, withinMs);
	}
}
