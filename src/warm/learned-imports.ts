import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { Clock } from "../base/clock.js";
import { catches } from "../base/process-stat.js";
import {
	fields,
	type Infer,
	list,
	mapOf,
	nullable,
	oneOf,
	optional,
	text,
	whole,
} from "../base/shape.js";
import { type HookPaths, hookPaths } from "../channel/index.js";
import type { StepSource } from "../model/index.js";
import { signalProcess, type WorkerSpec } from "../processes/index.js";
import type { Learning } from "./ahead.js";

/** Larger lists are not taken. */
export const LARGEST_LIST_BYTES = 256 * 1024;
const MOST_MODULES = 20_000;

/** From this index of the list on, modules were imported while the environment had been changed so. */
export type ChangedEnvironment = Infer<typeof changedEnvironment>;

const changedEnvironment = fields({
	from: whole(0, MOST_MODULES),
	/** A digest of each changed variable's value; -1: it had none any more. */
	changed: mapOf(text(LARGEST_LIST_BYTES), whole(-1, 2 ** 32)),
});

/** What a worker left of its imports after its first step: docs/warm-restarts.md. */
export type LearnedModules = Infer<typeof LEARNED>;

const LEARNED = fields(
	{
		version: oneOf(1),
		pid: whole(2, 2 ** 31),
		/** The interpreter, and the arguments with which it was started. */
		executable: text(4_096),
		arguments: list(text(LARGEST_LIST_BYTES)),
		modules: list(text(300)),
		/** What the import of each took of the processor, without that of others. */
		milliseconds: optional(list(whole(0, Number.MAX_SAFE_INTEGER))),
		/** Packages that are not from Python's libraries. */
		users: optional(list(text(300))),
		environments: optional(list(changedEnvironment)),
	},
	({ modules }) =>
		modules.length > MOST_MODULES
			? { field: "modules", allowed: `at most ${MOST_MODULES}` }
			: undefined,
);

export type ToImport = Pick<
	LearnedModules,
	"modules" | "milliseconds" | "users" | "environments"
>;

/** What these imports have cost the worker, in milliseconds; 0 if nobody has measured it. */
export function costOf({ milliseconds = [] }: ToImport): number {
	return milliseconds.reduce((sum, one) => sum + one, 0);
}

/** Undefined if there is none, or it is no such list. Never throws. */
export function readLearned(path: string): LearnedModules | undefined {
	try {
		if (statSync(path).size > LARGEST_LIST_BYTES) return undefined;
		const value: unknown = JSON.parse(readFileSync(path, "utf8"));
		return LEARNED(value, {}) ? value : undefined;
	} catch {
		return undefined;
	}
}

/** From now on the worker with this hook leaves its list when it makes a step, or is asked. */
function askToLearn({ learn, modules }: HookPaths): void {
	try {
		rmSync(modules, { force: true });
		writeFileSync(learn, "", { mode: 0o600 });
	} catch {
		// Its successor starts cold.
	}
}

const READY = fields({
	kind: oneOf("python"),
	pid: whole(2, 2 ** 31),
	learn_signal: nullable(whole(1, 64)),
});

/** Asks for the list at once. The signal is sent only to a process that is seen to catch it: it would end any other. */
function wantNow({ ready }: HookPaths): void {
	try {
		const value: unknown = JSON.parse(readFileSync(ready, "utf8"));
		if (!READY(value, {}) || value.learn_signal === null) return;
		const { pid, learn_signal: signal } = value;
		if (catches(pid, signal)) signalProcess(pid, signal);
	} catch {
		// It has no hook.
	}
}

/** A worker that was started cold, and may tell what it has imported. */
export interface Teacher {
	readonly pid: number;
	readonly spec: WorkerSpec;
}

export interface ImportLearningOptions {
	readonly clock: Clock;
	/** Called with a list, and with what the worker had done by then. */
	readonly onLearned: (
		learned: LearnedModules,
		teacher: Teacher,
		after: "step" | "time",
	) => void;
}

/** So often a worker without a step is asked, in milliseconds: until it has imported nothing more in between. */
export const SETTLED_MS = 5_000;
/** A worker that is asked answers when its Python code goes on, in milliseconds; it is looked for so often. */
const LOOK_EVERY_MS = 500;
const MOST_LOOKS = 20;
const MOST_ASKED = 5;

/** Gets the list of what a worker has imported, once it has made a step, or has run for long. */
export class ImportLearning implements Learning {
	private readonly teachers = new Map<number, WorkerSpec>();
	/** How often each of them has shown a step that it did not report. */
	private readonly shown = new Map<number, number>();
	private cancelSettle: () => void = () => {};
	private cancelLook: () => void = () => {};
	/** How many modules the list had which a worker without a step has left. */
	private listed = 0;
	/** Nothing is to be learned at the moment. */
	isSettled = false;

	constructor(private readonly options: ImportLearningOptions) {}

	/** This worker will be started cold. */
	prepare({ env }: WorkerSpec): void {
		const hook = env.ELASTIC_RUN_HOOK;
		if (hook !== undefined && !this.isSettled) askToLearn(hookPaths(hook));
	}

	/** It was started. */
	begin(teacher: Teacher): void {
		if (this.isSettled) return;
		if (this.teachers.size === 0) this.settleLater();
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

	private settleLater(): void {
		const { clock } = this.options;
		this.cancelSettle = clock.wakeAt(clock.now() + SETTLED_MS, () =>
			this.settle(),
		);
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
		if (after === "time") {
			// Its first step will import more.
			askToLearn(hookPaths(hook));
			const isImporting = learned.modules.length > this.listed;
			this.listed = learned.modules.length;
			if (isImporting) {
				this.settleLater();
				return true;
			}
		}
		this.options.onLearned(learned, teacher, after);
		return true;
	}
}
