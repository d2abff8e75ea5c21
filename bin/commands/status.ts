import { systemHost } from "../../src/agent/configuration/host.js";
import type { FoundRun, Searcher } from "../../src/agent/status/find-runs.js";
import type { RunPlaces } from "../../src/agent/status/run-request.js";
import { systemClock } from "../../src/clock.js";
import { ElasticRunError, EXIT_CODES } from "../../src/errors.js";
import { say } from "../console.js";
import { parseRunArguments } from "./run-arguments.js";

const USAGE = `Usage: elastic-run status [RUN_ID] [--rdzv-endpoint HOST:PORT,…] [--rdzv-backend etcd|memory]
                          [--rdzv-conf K=V,…] [--config FILE] [--output text|json]

Shows where a run stands: its round and phase, what is waited for and since when, its nodes with
ranks and processes, restarts that are left, the last incident. Without RUN_ID: which runs there are.
Runs without a store are looked for on this machine, all others in the store that is named.
Exit code: 0, 1 where there is no such run, 4 where the store does not answer.
`;

/** Shows one run, or which runs there are. Returns the exit code. */
export async function status(args: readonly string[]): Promise<number> {
	const asked = parseRunArguments("status", args);
	if (asked === "help") {
		process.stdout.write(USAGE);
		return EXIT_CODES.succeeded;
	}
	if ("problems" in asked) return refuse(asked.problems);
	const host = systemHost({ ...process.env });
	const { resolveRunRequest } = await import(
		"../../src/agent/status/run-request.js"
	);
	const request = await resolveRunRequest(asked.flags, host);
	if ("problems" in request) return refuse(request.problems);
	for (const note of request.notes) say(note);
	const uid = process.getuid?.() ?? 0;
	const searcher = { host, uid, clock: systemClock };
	const isJson = request.output === "json";
	try {
		return asked.runId === undefined
			? await showRuns(request.places, searcher, isJson)
			: await showRun(asked.runId, request.places, searcher, isJson);
	} catch (error) {
		if (!(error instanceof ElasticRunError)) throw error;
		say(error.message);
		return error.exitCode;
	}
}

function refuse(problems: readonly string[]): number {
	for (const words of problems) say(words);
	return EXIT_CODES.usage;
}

async function showRun(
	runId: string,
	places: RunPlaces,
	searcher: Searcher,
	isJson: boolean,
): Promise<number> {
	const { findRun } = await import("../../src/agent/status/find-runs.js");
	const [newest, ...others] = await findRun(runId, places, searcher);
	if (newest === undefined) {
		say(`there is no run ${runId} ${placesInWords(places)}`);
		return EXIT_CODES.failed;
	}
	for (const { place } of others) {
		say(`an older run of this name goes on in ${place}`);
	}
	const { formatStatus } = await import(
		"../../src/agent/status/format-status.js"
	);
	process.stdout.write(
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
	process.stdout.write(
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

function placesInWords({ local, store }: RunPlaces): string {
	const here = local ? ["on this machine"] : [];
	const there = store === undefined ? [] : [`in ${store.endpoints.join(",")}`];
	return [...here, ...there].join(", nor ");
}
