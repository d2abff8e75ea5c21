import { EXIT_CODES } from "../../src/base/errors.js";
import { printResult, say } from "../console.js";
import {
	type AskedCommand,
	onlyRun,
	runCommand,
	sayNotFound,
} from "./run-request.js";

const ABOUT = `Shows the nodes of a run: what was charged to each, its failures, the verdict of
its preflight, whether it was replaced, why, and by which node. Also those that
are not here any more. Without RUN_ID: of the only run that runs here.
Exit code: 0, 1 where there is no such run, 3 where its keys cannot be read, 4
where the store does not answer.
`;

/** Shows the nodes of a run. Returns the exit code. */
export function nodes(args: readonly string[]): Promise<number> {
	return runCommand("nodes", ABOUT, args, show);
}

async function show(asked: AskedCommand): Promise<number> {
	const { places, searcher, isJson } = asked;
	const runId = asked.runId ?? (await onlyRun("nodes", asked));
	if (typeof runId === "number") return runId;
	const { readKnownRun } = await import("../../src/operate/found-runs.js");
	const { accountsOf } = await import("../../src/status/node-accounts.js");
	const [newest] = await readKnownRun(runId, places, searcher);
	const wallTime = searcher.clock.wallTime();
	const accounts = newest && accountsOf(runId, newest.snapshot, wallTime, say);
	if (newest === undefined || accounts === undefined) {
		return sayNotFound(runId, places);
	}
	const { formatNodes } = await import("../../src/operate/format-nodes.js");
	printResult(isJson, { ...accounts, place: newest.place }, () =>
		formatNodes(accounts, wallTime),
	);
	return EXIT_CODES.succeeded;
}
