import { EXIT_CODES } from "../../src/base/errors.js";
import { formatHistory, readKnownRun } from "../../src/operate/index.js";
import { onceEach } from "../../src/rendezvous/index.js";
import { describeHistory } from "../../src/status/index.js";
import { printResult, say } from "../console.js";
import { namedOrLastRun, noRun, RunCommand } from "../run-command.js";

const ABOUT = `Shows the rounds of a run, the newest 200 over all its starts: why each was
begun and who came or went, how long it took until the failure was noticed, the
workers were stopped, all nodes were ready, the barrier was lifted and the
workers started, and how long they ran; of each start the mean time to repair
and the part of the time in which all workers ran. Without RUN_ID it shows the
run that was started last.
Exit code: 0, 1 where there is no such run, 3 where its keys cannot be read, 4
where the store does not answer.`;

export const command = new RunCommand("history", "[RUN_ID]", ABOUT).onRun(
	async (asked) => {
		const { places, searcher, isJson } = asked;
		const runId = await namedOrLastRun(asked);
		const [newest] = await readKnownRun(runId, places, searcher);
		const wallTime = searcher.clock.wallTime();
		const warn = onceEach(say);
		const found =
			newest && describeHistory(runId, newest.snapshot, wallTime, warn);
		if (newest === undefined || found === undefined) {
			throw noRun(runId, places);
		}
		printResult(isJson, { ...found, place: newest.place }, () =>
			formatHistory(found),
		);
		return EXIT_CODES.succeeded;
	},
);
