import type { WorkerSpec } from "../processes/index.js";

/** What differs between workers of one command: the same list as in `_elastic_run_warm_learned.py`. */
export const PLACE: ReadonlySet<string> = new Set(
	`RANK LOCAL_RANK GROUP_RANK ROLE_RANK ROLE_NAME WORLD_SIZE LOCAL_WORLD_SIZE GROUP_WORLD_SIZE ROLE_WORLD_SIZE
	MASTER_ADDR MASTER_PORT TORCHELASTIC_RESTART_COUNT TORCHELASTIC_ERROR_FILE ELASTIC_RUN_CHANNEL ELASTIC_RUN_ROUND
	ELASTIC_RUN_HOOK ELASTIC_RUN_INSTANCE`.split(/\s+/),
);

/** What all workers of a command have in their environment. */
export function withoutPlace(env: WorkerSpec["env"]): Record<string, string> {
	const kept = Object.entries(env).filter(([name]) => !PLACE.has(name));
	return Object.fromEntries(kept);
}

/** What a worker has in its environment that differs from the others'. */
export function placeOf(env: WorkerSpec["env"]): Record<string, string> {
	const kept = Object.entries(env).filter(([name]) => PLACE.has(name));
	return Object.fromEntries(kept);
}

export const OTHER_DIRECTORY = "the working directory is another one";

/** In words, what in this start a process that was prepared for another start would not do; undefined if nothing. */
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
