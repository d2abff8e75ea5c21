import { randomUUID } from "node:crypto";
import { EXIT_CODES } from "../../src/base/errors.js";
import { askWhy, formatWhy } from "../../src/operate/why.js";
import { printResult } from "../console.js";
import { readTimeout, refuse } from "./command-arguments.js";
import {
	type AskedCommand,
	onlyRun,
	runCommand,
	sayNotFound,
} from "./run-request.js";

const ABOUT = `Asks all nodes of a run what their workers do at this moment, and says who keeps
the others from their next step: a verdict, then the stacks, equal ones once.
It kills nothing, and the run goes on. Without RUN_ID it asks the only run that
runs here. --timeout: how long to wait for the nodes (by default 6 s).
Exit code: 0; 1 if there is no such run, or a node did not answer; 3 if its keys
cannot be read; 4 if the store does not answer.
`;

/** Agents take up to three seconds, and on a busy machine more. */
const TIMEOUT_MS = 6_000;

/** Shows what the workers of a run do. Returns the exit code. */
export function why(args: readonly string[]): Promise<number> {
	return runCommand("why", ABOUT, args, ask);
}

async function ask(asked: AskedCommand): Promise<number> {
	const { flags, places, searcher, isJson } = asked;
	const timeout = readTimeout("why", flags);
	if ("problems" in timeout) return refuse(timeout.problems);
	const runId = asked.runId ?? (await onlyRun("why", asked));
	if (typeof runId === "number") return runId;
	const timeoutMs = timeout.timeoutMs ?? TIMEOUT_MS;
	const question = { runId, id: randomUUID(), timeoutMs };
	const report = await askWhy(question, places, searcher);
	if (report === undefined) return sayNotFound(runId, places);
	printResult(isJson, report, () => formatWhy(report));
	return report.silent.length === 0 ? EXIT_CODES.succeeded : EXIT_CODES.failed;
}
