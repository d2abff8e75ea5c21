import type { Clock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import type { Logger } from "../base/logger.js";
import type { NextStart, SharedModules } from "../model/start.js";
import type { GroupRegistry, WorkerSpec } from "../processes/index.js";
import { residentMemory } from "./available-memory.js";
import type { LearnedModules, ToImport } from "./learned-modules.js";
import { type LeftOut, LeftOutModules } from "./left-out.js";
import {
	type LeftToWorkers,
	leftToWorkers,
	wordsOfReady,
} from "./left-to-workers.js";
import { flagAgainstHook } from "./warm-environment.js";
import { WarmHelper } from "./warm-helper.js";
import { type Teacher, WarmLearning } from "./warm-learning.js";
import { NOT_PYTHON, problemHere } from "./warm-machine.js";
import type { ColdReason, WarmFacts } from "./warm-or-cold.js";

export interface WarmSourceOptions {
	readonly clock: Clock;
	readonly log: Pick<Logger, "info" | "debug">;
	readonly setpriv: string | undefined;
	readonly registry: GroupRegistry;
	/** Workers of this node. */
	readonly workers: number;
}

/** When the processes for the next round are made, in milliseconds after a start: they would take the processors of this one. */
const PARK_AFTER_MS = 1_000;
/** How often a helper is begun, without a package or after one that ended. */
const MOST_TRIES = 8;

/** Learns what workers import, and keeps one helper that has it. */
export class WarmSource {
	/** The newest; it may have ended. */
	helper: WarmHelper | undefined;
	/** A worker like those that the helper starts. */
	known: WorkerSpec | undefined;
	readonly learning: WarmLearning;
	/** Why none is made; undefined if nothing is known against one. */
	private problem: ColdReason | undefined;
	/** What the newest has imported, and its private memory. */
	imported: Pick<NextStart, "modules" | "bytes"> = {};
	/** Called when it may start workers otherwise than before. */
	onChange: () => void = () => {};
	/** Called with a list that a worker of this node has taught, once it is proven; other nodes may take it. */
	onProven: (shared: SharedModules) => void = () => {};
	private readonly helpers: WarmHelper[] = [];
	private toImport: ToImport = { modules: [] };
	/** What a worker has in memory; undefined: the list is another node's. */
	private workerBytes: number | undefined;
	private readonly leftOut = new LeftOutModules();
	private tries = 0;
	private wasReady = false;
	private isClosed = false;
	private cancelPark: () => void = () => {};

	constructor(private readonly options: WarmSourceOptions) {
		this.learning = new WarmLearning({
			clock: options.clock,
			onLearned: (...learned) => this.learned(...learned),
		});
	}

	/** Whether this process is a helper, or waits for its work. */
	isOwn(pid: number): boolean {
		return this.helpers.some((helper) => helper.isOwn(pid));
	}

	/** What it could do for a worker like this one. */
	factsFor(args: readonly string[]): WarmFacts["helper"] {
		if (this.helper !== undefined) return this.helper.facts;
		return this.problem === undefined
			? { state: "none", flag: flagAgainstHook(args) }
			: { state: "refused", ...this.problem };
	}

	/** Another node has taught this list; `spec` is a worker as this node would start it. Ignored if there is a helper. */
	take({ modules, bytes }: SharedModules, spec: WorkerSpec): void {
		if (this.helper !== undefined) return;
		const problem = problemHere(spec, this.options.setpriv, bytes);
		if (problem === undefined) this.use({ modules }, spec);
		else this.cannot("starts", problem);
	}

	/** Workers start cold now: imports for later ones, which no worker needs yet, would slow them down. */
	yieldTo(): void {
		const { helper } = this;
		if (this.workerBytes !== undefined || helper?.facts.state !== "preparing") {
			return;
		}
		helper.retire("the round began before its imports were done");
		this.helper = undefined;
	}

	/** Has processes made for the next round once this one has begun. */
	parkLater(): void {
		const { clock, workers } = this.options;
		this.cancelPark();
		this.cancelPark = clock.wakeAt(clock.now() + PARK_AFTER_MS, () =>
			this.helper?.park(workers),
		);
	}

	close(): void {
		this.isClosed = true;
		this.learning.close();
		this.cancelPark();
		for (const helper of this.helpers) helper.close();
	}

	private learned(
		learned: LearnedModules,
		{ pid, spec }: Teacher,
		after: "step" | "time",
	): void {
		const sameWords = learned.arguments.join("\0") === spec.args.join("\0");
		const bytes = residentMemory(pid);
		const problem =
			learned.pid === pid && sameWords
				? problemHere(spec, this.options.setpriv, bytes)
				: NOT_PYTHON;
		if (problem !== undefined) {
			this.learning.isSettled = true;
			this.cannot("restarts", problem);
			return;
		}
		const known = new Set(this.toImport.modules);
		const isNew = learned.modules.some((name) => !known.has(name));
		const isReady = this.helper?.facts.state === "ready";
		// What was learned in time may lack what the first step has imported since.
		if (after === "step" && isReady && !isNew) return;
		this.helper?.retire("its successor is still importing");
		this.workerBytes = bytes;
		this.use(learned, spec);
	}

	private cannot(what: "starts" | "restarts", problem: ColdReason): void {
		this.problem = problem;
		this.options.log.info(`${what} will be cold: ${problem.reason}`);
		this.onChange();
	}

	private use(toImport: ToImport, spec: WorkerSpec): void {
		this.known = spec;
		this.problem = undefined;
		this.toImport = toImport;
		this.prepare(spec);
	}

	private prepare(spec: WorkerSpec): void {
		const { setpriv } = this.options;
		if (setpriv === undefined) return;
		this.tries += 1;
		try {
			this.open(spec, setpriv);
			this.onChange();
		} catch (error) {
			const reason = messageOf(error);
			this.cannot("restarts", { kind: "machine", reason });
		}
	}

	/** Throws if this machine lacks what a process needs. */
	private open(spec: WorkerSpec, setpriv: string): void {
		const { log, workers } = this.options;
		const helper: WarmHelper = new WarmHelper({
			...{ ...this.options, setpriv, spec, toImport: this.toImport },
			leftOut: this.leftOut.known,
			onParked: () => this.onChange(),
			onReady: (news) => {
				const { leaveOut } = this.leftOut.known;
				const left = leftToWorkers(this.toImport, leaveOut, news.left);
				log.info(wordsOfReady(news, left, helper.pid));
				this.wasReady = true;
				this.imported = { modules: news.modules, bytes: news.bytes };
				helper.park(workers);
				this.tellProven(left);
			},
			onRefused: (...refusal) => this.refused(spec, ...refusal),
		});
		this.helper = helper;
		this.helpers.push(helper);
	}

	private tellProven(left: readonly LeftToWorkers[]): void {
		const { workerBytes: bytes } = this;
		if (bytes === undefined) return;
		const isLeft = new Set(left.flatMap(({ indexes }) => indexes));
		const modules = this.toImport.modules.filter(
			(_, index) => !isLeft.has(index),
		);
		this.onProven({ modules, bytes });
	}

	private refused(spec: WorkerSpec, reason: string, but?: LeftOut): void {
		// No restart follows.
		if (this.isClosed) return;
		const { log } = this.options;
		if (but && this.leftOut.add(but) && this.tries < MOST_TRIES) {
			log.debug(`not imported ahead: ${reason}`);
			this.prepare(spec);
			return;
		}
		log.info(`restarts will be cold: ${reason}`);
		this.onChange();
		// What it knew is outdated, or it was killed: the next cold start is learned from.
		if (this.wasReady && this.tries < MOST_TRIES)
			this.learning.isSettled = false;
		this.wasReady = false;
	}
}
