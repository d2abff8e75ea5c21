import type { FoundRun, Searcher } from "../../src/agent/status/find-runs.js";
import type { RunPlaces } from "../../src/agent/status/run-request.js";
import { systemClock } from "../../src/clock.js";
import { EXIT_CODES } from "../../src/errors.js";
import { print, say } from "../console.js";
import { type AskedCommand, runCommand, sayNotFound } from "./run-request.js";

const USAGE = `Usage: elastic-run status [RUN_ID] [--watch]
                          [--rdzv-endpoint HOST:PORT,…] [--rdzv-backend etcd|memory]
                          [--rdzv-conf K=V,…] [--config FILE] [--output text|json]

Shows where a run stands: its round and phase, what is waited for and since when, its nodes with
ranks and processes, restarts that are left, the last incident. Without RUN_ID: which runs there
are.
--watch shows it again whenever that changes, until the run has ended: on a terminal in place,
elsewhere one line a change.
Runs without a store are looked for on this machine, all others in the store that is named.
Exit code: 0, 1 where there is no such run, 4 where the store does not answer.
`;

/** Shows one run, or which runs there are. Returns the exit code. */
export function status(args: readonly string[]): Promise<number> {
	return runCommand("status", USAGE, args, show);
}

async function show(asked: AskedCommand): Promise<number> {
	const { runId, own, places, searcher, isJson } = asked;
	if (own.has("watch")) {
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
	const { findRun } = await import("../../src/agent/status/find-runs.js");
	const [newest, ...others] = await findRun(runId, places, searcher);
	if (newest === undefined) return sayNotFound(runId, places);
	for (const { place } of others) {
		say(`an older run of this name goes on in ${place}`);
	}
	const { formatStatus } = await import(
		"../../src/agent/status/format-status.js"
	);
	print(
		isJson
			? `${JSON.stringify({ ...newest.status, place: newest.place })}\n`
			: formatStatus(newest.status, systemClock.wallTime()),
	);
	return EXIT_CODES.succeeded;
}

async function showRuns(
	places: RunPlaces,
	searcher: Searcher,
	isJson: boolean,
): Promise<number> {
	const { findRuns } = await import("../../src/agent/status/find-runs.js");
	const found = await findRuns(places, searcher, say);
	const { formatRuns } = await import(
		"../../src/agent/status/format-status.js"
	);
	print(
		isJson
			? `${JSON.stringify({ version: 1, runs: found.map(inShort) })}\n`
			: formatRuns(found, systemClock.wallTime()),
	);
	if (places.isStoreAssumed && !isJson) {
		say("these are the runs without a store; for others add --rdzv-endpoint");
	}
	return EXIT_CODES.succeeded;
}

function inShort({ status, place }: FoundRun) {
	const { runId, phase, since, instance, round, outcome, nodes } = status;
	const agents = nodes.filter(({ pid }) => pid !== null).length;
	return { runId, phase, since, instance, round, outcome, agents, place };
}
