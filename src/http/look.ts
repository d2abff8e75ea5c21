import type { Goodput } from "../goodput/describe-goodput.js";
import type { RunHistory } from "../rendezvous/describe/describe-history.js";
import type { RunStatus } from "../rendezvous/describe/run-status.js";

/** The state of a run at one read; unknown parts are undefined. */
export interface Look {
	readonly run: RunStatus | undefined;
	readonly history: RunHistory | undefined;
	readonly goodput: Goodput | undefined;
	readonly problem: string | null;
	readonly latencyMs: number | null;
}

/** Nothing could be read. */
export function nothing(problem: string): Look {
	const unknown = { run: undefined, history: undefined, goodput: undefined };
	return { ...unknown, problem, latencyMs: null };
}
