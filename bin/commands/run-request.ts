import { isHopeless, isUnreachable } from "../../src/base/back-off.js";
import { systemClock } from "../../src/base/clock.js";
import { ElasticRunError, EXIT_CODES } from "../../src/base/errors.js";
import { systemHost } from "../../src/config/host.js";
import { parseName } from "../../src/config/parse/scalars.js";
import type { Settings } from "../../src/config/settings.js";
import type { Searcher } from "../../src/operate/found-runs.js";
import {
	type RunPlaces,
	type RunRequest,
	resolveRunRequest,
} from "../../src/operate/run-request.js";
import { say } from "../console.js";
import { takeEnvironment } from "../own-environment.js";
import {
	type CommandArguments,
	refuse,
	withArguments,
} from "./command-arguments.js";
import type { CommandName } from "./command-table.js";

/** The request to a command that looks for a run, with all that the search needs. */
export interface AskedCommand extends RunRequest {
	/** Undefined if none is named. */
	readonly runId: string | undefined;
	readonly flags: Settings;
	readonly searcher: Searcher;
	readonly isJson: boolean;
}

/** Parses `[RUN_ID] [flags]` and runs the command, as `withArguments` does. */
export function runCommand(
	command: CommandName,
	about: string,
	args: readonly string[],
	work: (asked: AskedCommand) => Promise<number>,
): Promise<number> {
	return withArguments(command, about, args, (parsed) => {
		const problems = runIdProblems(parsed.operands);
		return problems.length > 0
			? refuse(problems.map((words) => `${command}: ${words} (see --help)`))
			: workOnRun(parsed, work);
	});
}

/** Parses `NODE [RUN_ID] [flags]` and runs the command. */
export function nodeCommand(
	command: CommandName,
	about: string,
	args: readonly string[],
	work: (asked: AskedCommand, nodeId: string) => Promise<number>,
): Promise<number> {
	return withArguments(command, about, args, (parsed) => {
		const [nodeId = "", ...operands] = parsed.operands;
		const name = parseName(nodeId);
		const problems = [
			...(nodeId === "" ? ["name a node"] : []),
			...(nodeId !== "" && "problems" in name ? name.problems : []),
			...runIdProblems(operands),
		];
		return problems.length > 0
			? refuse(problems.map((words) => `${command}: ${words} (see --help)`))
			: workOnRun({ ...parsed, operands }, (asked) => work(asked, nodeId));
	});
}

function runIdProblems([
	runId,
	...others
]: readonly string[]): readonly string[] {
	if (others.length > 0) return ["name one run only"];
	if (runId === undefined) return [];
	const name = parseName(runId);
	return "problems" in name ? name.problems : [];
}

async function workOnRun(
	{ operands, flags }: CommandArguments,
	work: (asked: AskedCommand) => Promise<number>,
): Promise<number> {
	const [runId] = operands;
	const host = systemHost(takeEnvironment());
	const request = await resolveRunRequest(flags, host);
	if ("problems" in request) return refuse(request.problems);
	for (const note of request.notes) say(note);
	const uid = process.getuid?.() ?? 0;
	const searcher = { host, uid, clock: systemClock };
	const isJson = request.output === "json";
	try {
		return await work({ runId, flags, ...request, searcher, isJson });
	} catch (error) {
		throw explain(error, runId, request.places);
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

/** Says that the command needs a run id. Returns the exit code. */
export function refuseNameless(command: CommandName): number {
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

/** The name of the only run that runs, or the exit code after it was said that there is none or more. */
export async function onlyRun(
	command: CommandName,
	{ places, searcher }: AskedCommand,
): Promise<string | number> {
	const { findRuns } = await import("../../src/operate/found-runs.js");
	const found = await findRuns(places, searcher, say);
	const running = found.filter(({ status }) => status.phase === "running");
	const [first, ...others] = running.map(({ status }) => status.runId);
	if (first !== undefined && others.length === 0) return first;
	if (first === undefined) {
		say(`no run runs ${placesInWords(places)}`);
		return EXIT_CODES.failed;
	}
	return refuse([
		`${command}: several runs run: name one of ${[first, ...others].join(", ")}`,
	]);
}
