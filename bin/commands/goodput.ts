import { EXIT_CODES } from "../../src/base/errors.js";
import { ok, optionsOf, type Parsed, problem } from "../../src/config/index.js";
import { formatGoodput, readGoodput } from "../../src/operate/index.js";
import { costOf } from "../../src/status/index.js";
import { printResult, say } from "../console.js";
import { namedOrLastRun, noRun, RunCommand } from "../run-command.js";

const ABOUT = `Shows what the nodes' time was spent on since the newest start of a run: each
second of each node is in one category. Then the goodput (new steps by all
time), how long failures took to recover from and how often they came, and the
checkpoint interval that this suggests. Without RUN_ID it shows the run that was
started last.
Exit code: 0, 1 where there is no such run, 3 where its keys cannot be read, 4
where the store does not answer.`;

const FLAGS = optionsOf("Command", {
	costPerNodeHour: {
		argument: "N",
		help: "also in money, in any currency",
		parse: parsePrice,
	},
});

export const command = new RunCommand("goodput", "[RUN_ID]", ABOUT)
	.owns(FLAGS)
	.onRun(async (asked) => {
		const { flags, places, searcher, isJson } = asked;
		const runId = await namedOrLastRun(asked);
		const found = await readGoodput(runId, places, searcher, say);
		if (found === undefined) throw noRun(runId, places);
		const price = flags.given(FLAGS.costPerNodeHour);
		const cost = price === undefined ? null : costOf(found, price);
		printResult(isJson, { ...found, cost }, () => formatGoodput(found, cost));
		return EXIT_CODES.succeeded;
	});

function parsePrice(text: string): Parsed<number> {
	const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
	return Number.isFinite(value)
		? ok(value)
		: problem(`"${text}" is no amount of money, like 2.50`);
}
