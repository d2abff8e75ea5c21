import { isHopeless, isUnreachable } from "../../src/base/back-off.js";
import { systemClock } from "../../src/base/clock.js";
import { ElasticRunError, EXIT_CODES } from "../../src/base/errors.js";
import { systemHost } from "../../src/config/host.js";
import type { Searcher } from "../../src/operate/status/find-runs.js";
import {
	type RunPlaces,
	type RunRequest,
	resolveRunRequest,
} from "../../src/operate/status/run-request.js";
import { print, say } from "../console.js";
import { takeEnvironment } from "../own-environment.js";
import type { RunCommandName } from "./own-flags.js";
import { parseRunArguments, type RunArguments } from "./run-arguments.js";

/** The request to a command that looks for a run, with all that the search needs. */
export interface AskedCommand extends RunArguments, RunRequest {
	readonly searcher: Searcher;
	readonly isJson: boolean;
}

/** Parses the arguments of a command and runs it. Prints usage or problems instead where needed. Returns the exit code. */
export async function runCommand(
	command: RunCommandName,
	usage: string,
	args: readonly string[],
	work: (asked: AskedCommand) => Promise<number>,
): Promise<number> {
	const parsed = parseRunArguments(command, args);
	if (parsed === "help") {
		print(usage);
		return EXIT_CODES.succeeded;
	}
	if ("problems" in parsed) return refuse(parsed.problems);
	const host = systemHost(takeEnvironment());
	const request = await resolveRunRequest(parsed.flags, host);
	if ("problems" in request) return refuse(request.problems);
	for (const note of request.notes) say(note);
	const uid = process.getuid?.() ?? 0;
	const searcher = { host, uid, clock: systemClock };
	const isJson = request.output === "json";
	try {
		return await work({ ...parsed, ...request, searcher, isJson });
	} catch (error) {
		throw explain(error, parsed.runId, request.places);
	}
}

/** If the user named no store, an unreachable store is not the whole answer about a run. */
function explain(
	error: unknown,
	runId: string | undefined,
	{ store, isStoreAssumed }: RunPlaces,
): unknown {
	const isSilent = isUnreachable(error) && !isHopeless(error);
	if (!isSilent || runId === undefined || !isStoreAssumed) return error;
	return new ElasticRunError(
		"STORE_UNREACHABLE",
		`no run ${runId} is known on this machine, and no etcd answered at ${store?.endpoints.join(",")}; name the run's etcd with --rdzv-endpoint`,
		{ cause: error },
	);
}

/** Reports the problems of a command line. Returns the exit code. */
export function refuse(problems: readonly string[]): number {
	for (const words of problems) say(words);
	return EXIT_CODES.usage;
}

/** Says that the command needs a run id. Returns the exit code. */
export function refuseNameless(command: RunCommandName): number {
	return refuse([
		`${command}: name a run: elastic-run ${command} RUN_ID; elastic-run status lists them`,
	]);
}

/** Says that a run was not found. Returns the exit code. */
export function sayNotFound(runId: string, places: RunPlaces): number {
	say(`there is no run ${runId} ${placesInWords(places)}`);
	return EXIT_CODES.failed;
}

/** The places that were searched. */
export function placesInWords({ local, store }: RunPlaces): string {
	const here = local ? ["on this machine"] : [];
	const there = store === undefined ? [] : [`in ${store.endpoints.join(",")}`];
	return [...here, ...there].join(", nor ");
}
