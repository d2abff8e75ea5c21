import { isHopeless, isUnreachable } from "../src/base/back-off.js";
import { systemClock } from "../src/base/clock.js";
import { ElasticRunError } from "../src/base/errors.js";
import {
	OPTIONS,
	onOff,
	optionsOf,
	parseDuration,
	parseName,
} from "../src/config/index.js";
import {
	type RunPlaces,
	type RunRequest,
	resolveRunRequest,
	type Searcher,
} from "../src/operate/index.js";
import type { FoundRun } from "../src/status/index.js";
import { CliCommand, type CommandArguments, refusal } from "./command.js";
import { say } from "./console.js";
import { NotFound } from "./crash.js";
import { ownHost } from "./own-host.js";

const { rdzvEndpoint, rdzvBackend, rdzvConf, config, output } = OPTIONS;

export const STORE_OPTIONS = [rdzvEndpoint, rdzvBackend, rdzvConf];

/** The flags of commands that wait for what they have begun. */
export const WAIT_FLAGS = optionsOf("Command", {
	noWait: onOff("do not wait for the end"),
	timeout: {
		argument: "TIME",
		help: "how long to wait at most",
		parse: parseDuration,
	},
});

/** How long to wait, in milliseconds: 0 with `--no-wait`, null if nothing is said. */
export function timeoutOf({ flags }: AskedCommand): number | null {
	if (flags.value(WAIT_FLAGS.noWait)) return 0;
	return flags.given(WAIT_FLAGS.timeout) ?? null;
}

/** The request to a command that looks for a run, with all that the search needs. */
export interface AskedCommand
	extends RunRequest,
		Pick<CommandArguments, "word" | "given" | "flags"> {
	/** Undefined if none is named. */
	readonly runId: string | undefined;
	readonly searcher: Searcher;
	readonly isJson: boolean;
}

type RunWork = (asked: AskedCommand) => Promise<number>;

export class RunCommand extends CliCommand {
	/** @param work on `[RUN_ID]` */
	onRun(work: RunWork): this {
		return this.takes(...STORE_OPTIONS, config, output).does((asked) =>
			workOnRun(asked, work),
		);
	}

	/**
	 * The same for a run on this machine: where its store is has no meaning.
	 * @param others works that a word before the run id selects
	 */
	onLocalRun(
		work: RunWork,
		others: ReadonlyMap<string, RunWork> = new Map(),
	): this {
		return this.takes(config, output)
			.ignores(...STORE_OPTIONS)
			.does((asked) => {
				const [first = "", ...operands] = asked.operands;
				const other = others.get(first);
				return other === undefined
					? workOnRun(asked, work)
					: workOnRun({ ...asked, operands }, other);
			});
	}

	/** @param work on `NODE [RUN_ID]` */
	onNode(work: (asked: AskedCommand, nodeId: string) => Promise<number>): this {
		return this.takes(...STORE_OPTIONS, config, output).does((asked) => {
			const { word } = asked;
			const [nodeId, ...operands] = asked.operands;
			if (nodeId === undefined) throw refusal(word, seeHelp("name a node"));
			const name = parseName(nodeId);
			if ("problems" in name) {
				throw refusal(word, ...name.problems.map(seeHelp));
			}
			return workOnRun({ ...asked, operands }, (found) => work(found, nodeId));
		});
	}
}

async function workOnRun(
	{ word, operands, given, flags }: CommandArguments,
	work: RunWork,
): Promise<number> {
	const problems = runIdProblems(operands);
	if (problems.length > 0) throw refusal(word, ...problems.map(seeHelp));
	const [runId] = operands;
	const host = ownHost();
	const request = await resolveRunRequest(given, host);
	if ("problems" in request) {
		throw new ElasticRunError("USAGE", request.problems.join("\n"));
	}
	for (const note of request.notes) say(note);
	const searcher = { host, uid: process.getuid?.() ?? 0, clock: systemClock };
	const isJson = request.output === "json";
	const asked = { ...request, word, given, flags, runId, searcher, isJson };
	try {
		return await work(asked);
	} catch (error) {
		throw explain(error, runId, request.places);
	}
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

function seeHelp(words: string): string {
	return `${words} (see --help)`;
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
		`no run ${runId} runs on this machine, and no etcd answered at ${store?.endpoints.join(",")}; name the run's etcd with --rdzv-endpoint`,
		{ cause: error },
	);
}

/** The run that the command names. Throws USAGE if it names none. */
export function namedRun({ word, runId }: AskedCommand): string {
	if (runId !== undefined) return runId;
	throw refusal(
		word,
		`name a run: elastic-run ${word} RUN_ID; elastic-run status lists them`,
	);
}

/** What is thrown if a run was not found. */
export function noRun(runId: string, places: RunPlaces): NotFound {
	return new NotFound(`there is no run ${runId} ${placesInWords(places)}`);
}

/** The places that were searched. */
export function placesInWords({ local, store }: RunPlaces): string {
	const here = local ? ["on this machine"] : [];
	const there = store === undefined ? [] : [`in ${store.endpoints.join(",")}`];
	return [...here, ...there].join(", nor ");
}

/** The run that the command names, else the one that was started last, whether it runs or has ended. */
export async function namedOrLastRun(asked: AskedCommand): Promise<string> {
	const { runId, places, searcher } = asked;
	if (runId !== undefined) return runId;
	const { findKnownRuns } = await import("../src/operate/found-runs.js");
	const found = await findKnownRuns(places, searcher, say);
	const [last] = newestFirst(found);
	if (last === undefined) {
		throw new NotFound(`there is no run ${placesInWords(places)}`);
	}
	return last.status.runId;
}

/** The run that the command names, else the one of those that run that was started last. */
export async function namedOrLastRunning(asked: AskedCommand): Promise<string> {
	const { runId, places } = asked;
	if (runId !== undefined) return runId;
	const [last] = await runningRuns(asked);
	if (last === undefined) {
		throw new NotFound(`no run runs ${placesInWords(places)}`);
	}
	return last;
}

/** The runs that were started last come first. */
export function newestFirst(runs: readonly FoundRun[]): FoundRun[] {
	return [...runs].sort(
		(one, other) => other.status.instance - one.status.instance,
	);
}

/** Their ids, of the newest first. */
async function runningRuns({
	places,
	searcher,
}: AskedCommand): Promise<readonly string[]> {
	const { findRuns } = await import("../src/operate/found-runs.js");
	const found = await findRuns(places, searcher, say);
	return newestFirst(found)
		.filter(({ status }) => status.phase === "running")
		.map(({ status }) => status.runId);
}

/** The run that the command names, or the only one that runs. Throws if there is none, or more than one. */
export async function namedOrOnlyRun(asked: AskedCommand): Promise<string> {
	const { word, runId, places } = asked;
	if (runId !== undefined) return runId;
	const [first, ...others] = await runningRuns(asked);
	if (first === undefined) {
		throw new NotFound(`no run runs ${placesInWords(places)}`);
	}
	if (others.length === 0) return first;
	throw refusal(
		word,
		`several runs run: name one of ${[first, ...others].join(", ")}`,
	);
}
