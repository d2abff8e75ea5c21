import { messageOf } from "../base/errors.js";
import type { NextStart, SharedModules } from "../model/index.js";
import type { WorkerSpec } from "../processes/index.js";
import type {
	Ahead,
	AheadOptions,
	ColdReason,
	NextFacts,
	PreparedWorker,
	StartFacts,
} from "./ahead.js";
import { workerStream } from "./forked-worker.js";
import type { LeftOut, Parked, Ready, Unfit } from "./helper-messages.js";
import { HelperProcess, type Place } from "./helper-process.js";
import {
	costOf,
	ImportLearning,
	type LearnedModules,
	type Teacher,
	type ToImport,
} from "./learned-imports.js";
import {
	LeftOutModules,
	type LeftToWorkers,
	leftToWorkers,
	wordsOfReady,
} from "./left-to-workers.js";
import {
	availableMemory,
	hasRoomFor,
	helperProblem,
	residentMemory,
} from "./machine.js";
import { flagAgainstHook, isPython, NOT_PYTHON } from "./python-command.js";
import { differenceOf, placeOf } from "./same-worker.js";
import { isUnasked } from "./warm-or-cold.js";

/** What other nodes have learned of a command's imports, and what this one has. */
export interface SharedImports {
	/** Whether a list of another node would be of use. */
	readonly isIgnorant: boolean;
	/** Another node has taught this list; `spec` is a worker as this node would start it. Ignored unless this node is ignorant. */
	adopt(shared: SharedModules, spec: WorkerSpec): void;
	/** Called with a list that a worker of this node has taught, once it is proven; other nodes may take it. */
	onProven: (shared: SharedModules) => void;
}

/** When the processes for the next round are made, in milliseconds after a start: they would take the processors of this one. */
const PARK_AFTER_MS = 1_000;
/** How often a helper is begun, without a package or after one that ended. */
const MOST_TRIES = 8;

/** Less is not worth a helper that nobody has asked for: what all imports cost the worker, in milliseconds. */
const LIGHT_MS = 1_000;
const LIGHT: ColdReason = {
	kind: "command",
	reason: "its imports take less than a second",
};

/** For Python: learns what workers import, and keeps one helper that has it, and forks them. */
export class ForkHelper implements Ahead, SharedImports {
	readonly done = "its imports are done";
	/** The imports of a cold worker take a while. */
	readonly earlyMs = 30_000;
	readonly learning: ImportLearning;
	onChange: () => void = () => {};
	onProven: (shared: SharedModules) => void = () => {};
	/** The newest start; from the first one on this node's own workers teach. */
	private started: WorkerSpec | undefined;
	/** The newest; it may have ended. */
	private helper: HelperProcess | undefined;
	private readonly helpers: HelperProcess[] = [];
	/** A worker like those that the helper starts. */
	private known: WorkerSpec | undefined;
	/** Why no helper is made; undefined if nothing is known against one. */
	private problem: ColdReason | undefined;
	/** What the newest has imported, and its private memory. */
	private imported: Pick<NextStart, "modules" | "bytes"> = {};
	private toImport: ToImport = { modules: [] };
	/** What a worker has in memory; undefined: the list is another node's. */
	private workerBytes: number | undefined;
	private readonly leftOut = new LeftOutModules();
	/** Of the newest start, by local rank. */
	private readonly places = new Map<number, Place>();
	/** What a parked process has in memory for itself; undefined: none has said it. */
	private ownBytes: number | undefined;
	/** Parked processes import nothing of their own: it has failed. */
	private isPlain = false;
	/** What the helper has said, until a process for each worker is parked. */
	private ready: Ready | undefined;
	private tries = 0;
	private wasReady = false;
	private isClosed = false;
	private cancelPark: () => void = () => {};

	constructor(private readonly options: Omit<AheadOptions, "hook">) {
		this.learning = new ImportLearning({
			clock: options.clock,
			onLearned: (...learned) => this.learned(...learned),
		});
	}

	factsOf(spec: WorkerSpec): StartFacts {
		const { known } = this;
		const parked = this.helper?.waitingFor(spec);
		const read = parked?.differenceFrom(spec.env);
		const difference = read && `${read} has another value`;
		return {
			problem: this.problemOf(spec),
			difference: (known && differenceOf(known, spec)) ?? difference,
			waiting: parked === undefined ? 0 : 1,
		};
	}

	get next(): NextFacts {
		const { helper } = this;
		return {
			problem: this.problemOf(this.started),
			waiting: helper?.waiting ?? 0,
			isImporting: helper?.isImporting ?? false,
			shown: helper?.isReady ? this.imported : {},
		};
	}

	take(spec: WorkerSpec): PreparedWorker | undefined {
		const stdout = workerStream(spec.stdout);
		const stderr = workerStream(spec.stderr);
		if (!stdout || !stderr) return undefined;
		return this.helper?.start(spec, { stdout, stderr });
	}

	/** Imports for later workers, which none needs yet, would slow down those that start now. */
	startsCold(): void {
		const { helper } = this;
		if (this.workerBytes !== undefined || !helper?.isImporting) return;
		helper.retire("the round began before its imports were done");
		this.helper = undefined;
	}

	prepareNext(spec: WorkerSpec): void {
		const { clock } = this.options;
		const { localRank } = spec;
		this.started = spec;
		this.places.set(localRank, { localRank, place: placeOf(spec.env) });
		this.cancelPark();
		this.cancelPark = clock.wakeAt(clock.now() + PARK_AFTER_MS, () =>
			this.park(),
		);
	}

	private park(): void {
		const { workers } = this.options;
		const bytesEach = this.ownBytes ?? (this.workerBytes ?? 0) / 2;
		const isPlain =
			this.isPlain || !hasRoomFor(workers, bytesEach, availableMemory());
		const places = Array.from({ length: workers }, (_, localRank) => {
			const known = this.places.get(localRank);
			return known && !isPlain ? known : { localRank, place: null };
		});
		this.helper?.park(places, this.leftOut.never);
	}

	private parked(news: Parked): void {
		const { workers } = this.options;
		const isEnough = (this.helper?.waiting ?? 0) >= workers;
		const ready = isEnough ? this.ready : undefined;
		this.ownBytes = news.bytes;
		if (ready !== undefined) {
			this.ready = undefined;
			const isPlain = news.reads === null;
			const { leaveOut } = isPlain ? this.leftOut.known : this.leftOut.never;
			const notImported = isPlain ? ready.left : news.left;
			const left = leftToWorkers(this.toImport, leaveOut, notImported);
			const sum: Ready = {
				...ready,
				modules: ready.modules + news.modules,
				bytes: ready.bytes + workers * news.bytes,
				seconds: ready.seconds + news.seconds,
			};
			this.imported = { modules: sum.modules, bytes: sum.bytes };
			this.options.log.info(wordsOfReady(sum, left, this.helper?.pid));
		}
		this.onChange();
	}

	private unfit({ reason, ...but }: Unfit): void {
		this.options.log.debug(`not imported ahead: ${reason}`);
		// Others were told to import before this was known.
		if (this.leftOut.add(but)) this.tries += 1;
		// Once more without those modules; else without all that is for one process.
		if (but.leaveOut.length === 0 || this.tries >= MOST_TRIES) {
			if (this.isPlain) return;
			this.isPlain = true;
		}
		this.park();
	}

	expectStart(): void {
		this.helper?.expectStart();
	}

	isOwn(pid: number): boolean {
		return this.helpers.some((helper) => helper.isOwn(pid));
	}

	close(): void {
		this.isClosed = true;
		this.learning.close();
		this.cancelPark();
		for (const helper of this.helpers) helper.close();
	}

	get isIgnorant(): boolean {
		return this.started === undefined && this.helper === undefined;
	}

	adopt({ modules, bytes }: SharedModules, spec: WorkerSpec): void {
		if (!this.isIgnorant) return;
		const problem = this.problemHere(spec, bytes);
		if (problem === undefined) this.use({ modules }, spec);
		else this.cannot("starts", problem);
	}

	private problemOf(spec: WorkerSpec | undefined): ColdReason | undefined {
		if (this.helper !== undefined) return this.helper.problem;
		if (this.problem !== undefined) return this.problem;
		const flag = spec && flagAgainstHook(spec.args);
		return flag === undefined
			? { kind: "first", reason: "no step was made before" }
			: { kind: "command", reason: `Python runs with ${flag}` };
	}

	/** Why this machine starts no helper for workers like this one; undefined if it can. */
	private problemHere(
		{ file }: WorkerSpec,
		workerBytes: number,
	): ColdReason | undefined {
		if (!isPython(file)) return NOT_PYTHON;
		return helperProblem({
			platform: process.platform,
			hasSetpriv: this.options.setpriv !== undefined,
			availableBytes: availableMemory(),
			workerBytes,
		});
	}

	private learned(
		learned: LearnedModules,
		{ pid, spec }: Teacher,
		after: "step" | "time",
	): void {
		if (this.options.isFrugal && costOf(learned) < LIGHT_MS) {
			this.problem ??= LIGHT;
			this.onChange();
			return;
		}
		const sameWords = learned.arguments.join("\0") === spec.args.join("\0");
		const bytes = residentMemory(pid);
		const problem =
			learned.pid === pid && sameWords
				? this.problemHere(spec, bytes)
				: NOT_PYTHON;
		if (problem !== undefined) {
			this.learning.isSettled = true;
			this.cannot("restarts", problem);
			return;
		}
		const known = new Set(this.toImport.modules);
		const isNew = learned.modules.some((name) => !known.has(name));
		const { helper } = this;
		// What was learned in time may lack what the first step has imported since.
		if (after === "step" && helper?.isReady && !isNew) return;
		helper?.retire("its successor is still importing");
		this.workerBytes = bytes;
		this.use(learned, spec);
	}

	private cannot(what: "starts" | "restarts", problem: ColdReason): void {
		const { log, isFrugal } = this.options;
		const words = `${what} will be cold: ${problem.reason}`;
		this.problem = problem;
		if (isUnasked(isFrugal, problem.kind)) log.debug(words);
		else log.info(words);
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
		const { clock, registry } = this.options;
		const helper: HelperProcess = new HelperProcess({
			clock,
			registry,
			setpriv,
			spec,
			toImport: this.toImport,
			leftOut: this.leftOut.known,
			onParked: (news) => {
				if (this.helper === helper) this.parked(news);
			},
			onUnfit: (news) => this.unfit(news),
			onReady: (news) => {
				this.leftOut.add(news);
				this.ready = news;
				this.wasReady = true;
				this.imported = { modules: news.modules, bytes: news.bytes };
				this.park();
				const { leaveOut } = this.leftOut.known;
				this.publishProven(leftToWorkers(this.toImport, leaveOut, news.left));
			},
			onRefused: (...refusal) => this.refused(spec, ...refusal),
		});
		this.helper = helper;
		this.helpers.push(helper);
	}

	private publishProven(left: readonly LeftToWorkers[]): void {
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
