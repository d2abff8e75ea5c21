import { basename } from "node:path";
import type { Clock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import type { Logger } from "../base/logger.js";
import { hookPaths } from "../channel/layout.js";
import { availableMemory, residentMemory } from "./available-memory.js";
import { type LearnedModules, readLearned } from "./learned-modules.js";
import { WarmHelper } from "./warm-helper.js";
import { helperProblem } from "./warm-or-cold.js";
import type { WorkerSpec } from "./worker.js";
import type { GroupRegistry } from "./worker-process.js";

export interface WarmSourceOptions {
	readonly clock: Clock;
	readonly log: Pick<Logger, "info" | "debug">;
	readonly setpriv: string | undefined;
	readonly registry: GroupRegistry;
	/** Workers of this node. */
	readonly workers: number;
}

/** A wrapper of another name may do something for each worker. */
const INTERPRETER = /^python[\d.]*t?$/;
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
	private readonly helpers: WarmHelper[] = [];
	private modules: LearnedModules["modules"] = [];
	private readonly leftOut = new Set<string>();
	private tries = 0;
	private wasReady = false;
	/** Nothing is to be learned at the moment. */
	private isSettled = false;
	private cancelPark: () => void = () => {};

	constructor(private readonly options: WarmSourceOptions) {}

	/** Whether the next worker shall tell what it has imported. */
	get wantsToLearn(): boolean {
		return !this.isSettled;
	}

	/** Whether this process is a helper, or waits for its work. */
	isOwn(pid: number): boolean {
		return this.helpers.some((helper) => helper.isOwn(pid));
	}

	/** This worker has made a step: it has imported by now what the training needs. */
	learnFrom(pid: number, spec: WorkerSpec, hook: string): void {
		if (this.isSettled) return;
		const learned = readLearned(hookPaths(hook).modules);
		if (learned === undefined) return;
		this.isSettled = true;
		const problem = this.problemOf(learned, pid, spec);
		if (problem !== undefined) {
			this.options.log.info(`restarts will be cold: ${problem}`);
			return;
		}
		this.known = spec;
		this.modules = learned.modules;
		this.prepare(spec);
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
		this.cancelPark();
		for (const helper of this.helpers) helper.close();
	}

	private problemOf(
		learned: LearnedModules,
		pid: number,
		spec: WorkerSpec,
	): string | undefined {
		const sameWords = learned.arguments.join("\0") === spec.args.join("\0");
		const isPython = INTERPRETER.test(basename(spec.file));
		if (learned.pid !== pid || !sameWords || !isPython) {
			return "the command is not Python itself, but starts it";
		}
		return helperProblem({
			platform: process.platform,
			hasSetpriv: this.options.setpriv !== undefined,
			availableBytes: availableMemory(),
			workerBytes: residentMemory(pid),
		});
	}

	private prepare(spec: WorkerSpec): void {
		const { setpriv, log } = this.options;
		if (setpriv === undefined) return;
		this.tries += 1;
		try {
			this.open(spec, setpriv);
		} catch (error) {
			log.info(`restarts will be cold: ${messageOf(error)}`);
		}
	}

	/** Throws if this machine lacks what a process needs. */
	private open(spec: WorkerSpec, setpriv: string): void {
		const { log, workers } = this.options;
		const helper: WarmHelper = new WarmHelper({
			...{ ...this.options, setpriv, spec, modules: this.modules },
			leaveOut: [...this.leftOut],
			onReady: ({ modules, bytes, seconds }) => {
				const megabytes = Math.round(bytes / 1e6);
				log.info(
					`restarts will be warm: ${modules} modules are imported ahead in ${seconds.toFixed(1)} s, ${megabytes} MB (pid ${helper.pid})`,
				);
				this.wasReady = true;
				helper.park(workers);
			},
			onRefused: (...refusal) => this.refused(spec, ...refusal),
		});
		this.helper = helper;
		this.helpers.push(helper);
	}

	private refused(
		spec: WorkerSpec,
		reason: string,
		leaveOut: readonly string[],
	): void {
		const { log } = this.options;
		const before = this.leftOut.size;
		for (const name of leaveOut) this.leftOut.add(name);
		if (this.leftOut.size > before && this.tries < MOST_TRIES) {
			log.debug(`not imported ahead: ${reason}`);
			this.prepare(spec);
			return;
		}
		log.info(`restarts will be cold: ${reason}`);
		// What it knew is outdated, or it was killed: the next cold start is learned from.
		if (this.wasReady && this.tries < MOST_TRIES) this.isSettled = false;
		this.wasReady = false;
	}
}
