import { EXIT_CODES } from "../../src/base/errors.js";
import type { Parsed } from "../../src/config/parse/parsed.js";
import { costOf } from "../../src/goodput/describe-goodput.js";
import { formatGoodput, readGoodput } from "../../src/operate/goodput.js";
import { printResult, say } from "../console.js";
import { FlagReader, refuse } from "./command-arguments.js";
import {
	type AskedCommand,
	onlyRun,
	runCommand,
	sayNotFound,
} from "./run-request.js";

const ABOUT = `Shows what the nodes' time was spent on since the newest start of a run: each
second of each node is in one category. Then the goodput (new steps by all
time), how long failures took to recover from and how often they came, and the
checkpoint interval that this suggests. Without RUN_ID it shows the only run
that runs here. --cost-per-node-hour: also in money, in any currency.
Exit code: 0, 1 where there is no such run, 3 where its keys cannot be read, 4
where the store does not answer.
`;

/** Shows what a run's time was spent on. Returns the exit code. */
export function goodput(args: readonly string[]): Promise<number> {
	return runCommand("goodput", ABOUT, args, show);
}

async function show(asked: AskedCommand): Promise<number> {
	const { flags, places, searcher, isJson } = asked;
	const reader = new FlagReader("goodput", flags);
	const price = reader.read("cost-per-node-hour", parsePrice);
	if (reader.problems.length > 0) return refuse(reader.problems);
	const runId = asked.runId ?? (await onlyRun("goodput", asked));
	if (typeof runId === "number") return runId;
	const found = await readGoodput(runId, places, searcher, say);
	if (found === undefined) return sayNotFound(runId, places);
	const cost = price === undefined ? null : costOf(found, price);
	printResult(isJson, { ...found, cost }, () => formatGoodput(found, cost));
	return EXIT_CODES.succeeded;
}

function parsePrice(text: string): Parsed<number> {
	const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
	return Number.isFinite(value)
		? { value }
		: { problems: [`"${text}" is no amount of money, like 2.50`] };
}
