import { systemClock } from "../../src/base/clock.js";
import { EXIT_CODES } from "../../src/base/errors.js";
import type { Searcher } from "../../src/operate/found-runs.js";
import { findKnownRun, findKnownRuns } from "../../src/operate/found-runs.js";
import type { RunPlaces } from "../../src/operate/run-request.js";
import type { FoundRun } from "../../src/status/run-document.js";
import { formatRuns, formatStatus } from "../../src/status/status-text.js";
import { printResult, say } from "../console.js";
import { type AskedCommand, runCommand, sayNotFound } from "./run-request.js";

const ABOUT = `Shows where a run stands: its round and phase, what is waited for and since
when, its nodes with ranks and processes, restarts that are left, the last
incident. Without RUN_ID: which runs there are.
--watch shows it again whenever that changes, until the run has ended: on a
terminal in place, elsewhere one line a change. It waits for a run that is not
there yet.
Runs without a store are looked for on this machine, all others in the store
that is named. Runs that ended on this machine are known for a week.
Exit code: 0, 1 where there is no such run, 3 where its keys cannot be read, 4
where the store does not answer.
`;

/** Shows one run, or lists the runs. Returns the exit code. */
export function status(args: readonly string[]): Promise<number> {
	return runCommand("status", ABOUT, args, show);
}

async function show(asked: AskedCommand): Promise<number> {
	const { runId, flags, places, searcher, isJson } = asked;
	if (flags.has("watch")) {
		return (await import("./watch-status.js")).watchStatus(asked);
	}
	return runId === undefined
		? showRuns(places, searcher, isJson)
		: showRun(runId, places, searcher, isJson);
}

async function showRun(
	runId: string,
	places: RunPlaces,
	searcher: Searcher,
	isJson: boolean,
): Promise<number> {
	const [newest, ...others] = await findKnownRun(runId, places, searcher, say);
	if (newest === undefined) return sayNotFound(runId, places);
	for (const { place } of others) {
		say(`an older run of this name continues in ${place}`);
	}
	printResult(isJson, { ...newest.status, place: newest.place }, () =>
		formatStatus(newest.status, systemClock.wallTime()),
	);
	return EXIT_CODES.succeeded;
}

async function showRuns(
	places: RunPlaces,
	searcher: Searcher,
	isJson: boolean,
): Promise<number> {
	const found = await findKnownRuns(places, searcher, say);
	printResult(isJson, { version: 1, runs: found.map(inShort) }, () =>
		formatRuns(found, systemClock.wallTime()),
	);
	if (places.isStoreAssumed && !isJson) {
		say(
			"these are the runs without a store, and those that ended here; for others add --rdzv-endpoint",
		);
	}
	return EXIT_CODES.succeeded;
}

function inShort({ status, place }: FoundRun) {
	const { runId, phase, since, instance, round, outcome, nodes } = status;
	const agents = nodes.filter(({ pid }) => pid !== null).length;
	return { runId, phase, since, instance, round, outcome, agents, place };
}
