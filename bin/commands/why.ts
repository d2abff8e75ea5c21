import { randomUUID } from "node:crypto";
import { EXIT_CODES } from "../../src/base/errors.js";
import { askWhy, formatWhy } from "../../src/operate/index.js";
import { printResult } from "../console.js";
import {
	namedOrLastRunning,
	noRun,
	RunCommand,
	WAIT_FLAGS,
} from "../run-command.js";

const ABOUT = `Asks all nodes of a run what their workers do at this moment, and says who keeps
the others from their next step: a verdict, then the stacks, equal ones once.
It kills nothing, and the run goes on. Without RUN_ID it asks the run that was
started last. It waits for the nodes for 6 s, or --timeout.
Exit code: 0; 1 if there is no such run, or a node did not answer; 3 if its keys
cannot be read; 4 if the store does not answer.`;

/** Agents take up to three seconds, and on a busy machine more. */
const TIMEOUT_MS = 6_000;

const { timeout } = WAIT_FLAGS;

export const command = new RunCommand("why", "[RUN_ID]", ABOUT)
	.owns({ timeout })
	.onRun(async (asked) => {
		const { flags, places, searcher, isJson } = asked;
		const runId = await namedOrLastRunning(asked);
		const timeoutMs = flags.given(timeout) ?? TIMEOUT_MS;
		const question = { runId, id: randomUUID(), timeoutMs };
		const report = await askWhy(question, places, searcher);
		if (report === undefined) throw noRun(runId, places);
		printResult(isJson, report, () => formatWhy(report));
		return report.silent.length === 0
			? EXIT_CODES.succeeded
			: EXIT_CODES.failed;
	});
