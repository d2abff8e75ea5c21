import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { catches } from "../base/process-stat.js";
import {
	fields,
	list,
	mapOf,
	nullable,
	oneOf,
	optional,
	text,
	whole,
} from "../base/shape.js";
import type { HookPaths } from "../channel/layout.js";
import { signalProcess } from "../processes/index.js";

/** What a worker left of its imports after its first step: docs/warm-restarts.md. */
export interface LearnedModules {
	readonly version: 1;
	readonly pid: number;
	/** The interpreter, and the arguments with which it was started. */
	readonly executable: string;
	readonly arguments: readonly string[];
	readonly modules: readonly string[];
	/** What the import of each took of the processor, without that of others. */
	readonly milliseconds?: readonly number[] | undefined;
	/** Packages that are not from Python's libraries. */
	readonly users?: readonly string[] | undefined;
	readonly environments?: readonly ChangedEnvironment[] | undefined;
}

/** From this index of the list on, modules were imported while the environment had been changed so. */
export interface ChangedEnvironment {
	readonly from: number;
	/** A digest of each changed variable's value; -1: it had none any more. */
	readonly changed: Readonly<Record<string, number>>;
}

/** What a helper imports. */
export type ToImport = Pick<
	LearnedModules,
	"modules" | "milliseconds" | "users" | "environments"
>;

/** Larger lists are not taken. */
export const LARGEST_LIST_BYTES = 256 * 1024;
const MOST_MODULES = 20_000;

const LEARNED = fields<LearnedModules>(
	{
		version: oneOf(1),
		pid: whole(2, 2 ** 31),
		executable: text(4_096),
		arguments: list(text(LARGEST_LIST_BYTES)),
		modules: list(text(300)),
		milliseconds: optional(list(whole(0, Number.MAX_SAFE_INTEGER))),
		users: optional(list(text(300))),
		environments: optional(
			list(
				fields<ChangedEnvironment>({
					from: whole(0, MOST_MODULES),
					changed: mapOf(text(LARGEST_LIST_BYTES), whole(-1, 2 ** 32)),
				}),
			),
		),
	},
	({ modules }) =>
		modules.length > MOST_MODULES
			? { field: "modules", allowed: `at most ${MOST_MODULES}` }
			: undefined,
);

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
export function askToLearn({ learn, modules }: HookPaths): void {
	try {
		rmSync(modules, { force: true });
		writeFileSync(learn, "", { mode: 0o600 });
	} catch {
		// Its successor starts cold.
	}
}

const READY = fields<{
	readonly kind: "python";
	readonly pid: number;
	readonly learn_signal: number | null;
}>({
	kind: oneOf("python"),
	pid: whole(2, 2 ** 31),
	learn_signal: nullable(whole(1, 64)),
});

/** Asks for the list at once. The signal is sent only to a process that is seen to catch it: it would end any other. */
export function wantNow({ ready }: HookPaths): void {
	try {
		const value: unknown = JSON.parse(readFileSync(ready, "utf8"));
		if (!READY(value, {}) || value.learn_signal === null) return;
		const { pid, learn_signal: signal } = value;
		if (catches(pid, signal)) signalProcess(pid, signal);
	} catch {
		// It has no hook.
	}
}
