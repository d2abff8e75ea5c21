import type { Clock } from "../base/clock.js";
import { hookPaths } from "../channel/layout.js";
import type { StepSource } from "../model/step.js";
import type { WorkerSpec } from "../processes/index.js";
import {
	askToLearn,
	type LearnedModules,
	readLearned,
	wantNow,
} from "./learned-modules.js";

/** A worker that was started cold, and may tell what it has imported. */
export interface Teacher {
	readonly pid: number;
	readonly spec: WorkerSpec;
}

export interface WarmLearningOptions {
	readonly clock: Clock;
	/** Called with a list, and with what the worker had done by then. */
	readonly onLearned: (
		learned: LearnedModules,
		teacher: Teacher,
		after: "step" | "time",
	) => void;
}

/** After so long without a step a worker is taken for one whose steps nobody sees, in milliseconds. */
export const SETTLED_MS = 30_000;
/** A worker that is asked answers when its Python code goes on, in milliseconds; it is looked for so often. */
const LOOK_EVERY_MS = 500;
const MOST_LOOKS = 20;
const MOST_ASKED = 5;

/** Gets the list of what a worker has imported, once it has made a step, or has run for long. */
export class WarmLearning {
	private readonly teachers = new Map<number, WorkerSpec>();
	/** How often each of them has shown a step that it did not report. */
	private readonly shown = new Map<number, number>();
	private cancelSettle: () => void = () => {};
	private cancelLook: () => void = () => {};
	/** Nothing is to be learned at the moment. */
	isSettled = false;

	constructor(private readonly options: WarmLearningOptions) {}

	/** This worker will be started cold. */
	prepare({ env }: WorkerSpec): void {
		const hook = env.ELASTIC_RUN_HOOK;
		if (hook !== undefined && !this.isSettled) askToLearn(hookPaths(hook));
	}

	/** It was started. */
	begin(teacher: Teacher): void {
		if (this.isSettled) return;
		const { clock } = this.options;
		if (this.teachers.size === 0) {
			this.cancelSettle = clock.wakeAt(clock.now() + SETTLED_MS, () =>
				this.settle(),
			);
		}
		this.teachers.set(teacher.pid, teacher.spec);
	}

	gone(pid: number): void {
		this.teachers.delete(pid);
		this.shown.delete(pid);
		if (this.teachers.size === 0) this.close();
	}

	/** It has made a step. */
	stepped(pid: number, source: StepSource): void {
		const spec = this.teachers.get(pid);
		if (spec === undefined || this.isSettled) return;
		if (source === "output") {
			const shown = (this.shown.get(pid) ?? 0) + 1;
			this.shown.set(pid, shown);
			// The first number may be printed before the work that imports the rest; and not everyone answers.
			if (shown === 1 || shown > MOST_ASKED) return;
		}
		this.ask({ pid, spec }, "step");
	}

	close(): void {
		this.cancelSettle();
		this.cancelLook();
	}

	private settle(): void {
		const [first] = this.teachers;
		if (first === undefined || this.isSettled) return;
		const [pid, spec] = first;
		this.ask({ pid, spec }, "time");
	}

	private ask(teacher: Teacher, after: "step" | "time"): void {
		this.cancelLook();
		if (this.take(teacher, after)) return;
		const hook = teacher.spec.env.ELASTIC_RUN_HOOK;
		if (hook === undefined) return;
		wantNow(hookPaths(hook));
		this.lookLater(teacher, after, MOST_LOOKS);
	}

	private lookLater(
		teacher: Teacher,
		after: "step" | "time",
		looks: number,
	): void {
		const { clock } = this.options;
		this.cancelLook = clock.wakeAt(clock.now() + LOOK_EVERY_MS, () => {
			if (this.isSettled || !this.teachers.has(teacher.pid)) return;
			if (!this.take(teacher, after) && looks > 1) {
				this.lookLater(teacher, after, looks - 1);
			}
		});
	}

	/** Whether there was a list. */
	private take(teacher: Teacher, after: "step" | "time"): boolean {
		const hook = teacher.spec.env.ELASTIC_RUN_HOOK;
		if (hook === undefined) return false;
		const learned = readLearned(hookPaths(hook).modules);
		if (learned === undefined) return false;
		this.isSettled = after === "step";
		// Its first step will import more.
		if (after === "time") askToLearn(hookPaths(hook));
		this.options.onLearned(learned, teacher, after);
		return true;
	}
}
