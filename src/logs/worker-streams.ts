import type { StreamSelection } from "../model/index.js";

/** Where one stream of a worker goes. */
export type StreamPlan =
	/** To its file, and from there to the console if `shownOn` is set. */
	| {
			readonly kind: "file";
			readonly shownOn: "stdout" | "stderr" | undefined;
	  }
	/** To the launcher's own descriptor, 1 or 2. */
	| { readonly kind: "inherit"; readonly descriptor: 1 | 2 };

export interface WorkerStreams {
	readonly stdout: StreamPlan;
	readonly stderr: StreamPlan;
}

/** The settings of these names. */
interface StreamConfig {
	readonly redirects: readonly StreamSelection[];
	readonly tee: readonly StreamSelection[];
	readonly localRanksFilter: readonly number[] | undefined;
	readonly output: "text" | "json";
}

/**
 * Combines `--redirects`, `--tee`, `--local-ranks-filter` and `--output` for one worker. A stream that is shown is
 * redirected as well. One that the filter hides goes to its file. With JSON output stdout is reserved for the result.
 */
export function planStreams(
	config: StreamConfig,
	localRank: number,
): WorkerStreams {
	const hidden = config.localRanksFilter?.includes(localRank) === false;
	const plan = (stream: "stdout" | "stderr"): StreamPlan => {
		const target = config.output === "json" ? "stderr" : stream;
		if (hidden) return { kind: "file", shownOn: undefined };
		if (config.tee[localRank]?.[stream])
			return { kind: "file", shownOn: target };
		if (config.redirects[localRank]?.[stream]) {
			return { kind: "file", shownOn: undefined };
		}
		return { kind: "inherit", descriptor: target === "stdout" ? 1 : 2 };
	};
	return { stdout: plan("stdout"), stderr: plan("stderr") };
}

/** The streams that go to files. */
export function redirectedIn({
	stdout,
	stderr,
}: WorkerStreams): StreamSelection {
	return { stdout: stdout.kind === "file", stderr: stderr.kind === "file" };
}
