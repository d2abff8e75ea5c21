import type { WorkerSpec } from "../processes/index.js";
import { readPythonArguments } from "./python-arguments.js";

/** What differs between workers of one command: the same list as in `_elastic_run_warm.py`. */
export const PLACE: ReadonlySet<string> = new Set([
	...["RANK", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK", "ROLE_NAME"],
	...["WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_WORLD_SIZE", "ROLE_WORLD_SIZE"],
	...["MASTER_ADDR", "MASTER_PORT"],
	...["TORCHELASTIC_RESTART_COUNT", "TORCHELASTIC_ERROR_FILE"],
	...["ELASTIC_RUN_CHANNEL", "ELASTIC_RUN_ROUND", "ELASTIC_RUN_HOOK"],
	"ELASTIC_RUN_INSTANCE",
]);

/** Tells Python's hook that this process is a helper, and whose. */
const HELPER = "ELASTIC_RUN_HELPER_OF";

/** The environment of the helper for workers like this one. */
export function helperEnvironment(
	env: WorkerSpec["env"],
	launcher: number,
): Record<string, string> {
	const kept = Object.entries(env).filter(([name]) => !PLACE.has(name));
	return { ...Object.fromEntries(kept), [HELPER]: String(launcher) };
}

/** The flag of Python that keeps the launcher's hook out, and so all warm starts; undefined if there is none. */
export function flagAgainstHook(args: readonly string[]): string | undefined {
	return readPythonArguments(args).flags.find((flag) => /[IES]/.test(flag));
}

export const OTHER_DIRECTORY = "the working directory is another one";

/** In words, what in this start a helper that was made for another start would not do; undefined if nothing. */
export function differenceOf(
	known: WorkerSpec,
	spec: WorkerSpec,
): string | undefined {
	if (known.file !== spec.file) return "the program has changed";
	if (known.args.join("\0") !== spec.args.join("\0")) {
		return "the arguments have changed";
	}
	if (known.cwd !== spec.cwd) return OTHER_DIRECTORY;
	const names = new Set([...Object.keys(known.env), ...Object.keys(spec.env)]);
	const changed = [...names].find(
		(name) => !PLACE.has(name) && known.env[name] !== spec.env[name],
	);
	return changed === undefined ? undefined : `${changed} has another value`;
}
