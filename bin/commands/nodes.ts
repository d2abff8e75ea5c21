import { EXIT_CODES } from "../../src/base/errors.js";
import { formatNodes, readKnownRun } from "../../src/operate/index.js";
import { accountsOf } from "../../src/status/index.js";
import { printResult, say } from "../console.js";
import { namedOrLastRun, noRun, RunCommand } from "../run-command.js";

const ABOUT = `Shows the nodes of a run: what was charged to each, its failures, the verdict of
its preflight, whether it was replaced, why, and by which node. Also those that
are not here any more. Without RUN_ID: of the run that was started last.
Exit code: 0, 1 where there is no such run, 3 where its keys cannot be read, 4
where the store does not answer.`;

export const command = new RunCommand("nodes", "[RUN_ID]", ABOUT).onRun(
	async (asked) => {
		const { places, searcher, isJson } = asked;
		const runId = await namedOrLastRun(asked);
		const [newest] = await readKnownRun(runId, places, searcher);
		const wallTime = searcher.clock.wallTime();
		const accounts =
			newest && accountsOf(runId, newest.snapshot, wallTime, say);
		if (newest === undefined || accounts === undefined) {
			throw noRun(runId, places);
		}
		printResult(isJson, { ...accounts, place: newest.place }, () =>
			formatNodes(accounts, wallTime),
		);
		return EXIT_CODES.succeeded;
	},
);
