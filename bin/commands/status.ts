import { isUnreachable } from "../../src/base/back-off.js";
import { systemClock } from "../../src/base/clock.js";
import { EXIT_CODES } from "../../src/base/errors.js";
import { formatCount } from "../../src/base/units.js";
import { onOff, optionsOf } from "../../src/config/index.js";
import {
	findKnownRun,
	findKnownRuns,
	findLinks,
	type Searcher,
} from "../../src/operate/index.js";
import {
	type FoundRun,
	formatRuns,
	formatStatus,
	linksInWords,
} from "../../src/status/index.js";
import { printResult, say } from "../console.js";
import {
	type AskedCommand,
	newestFirst,
	noRun,
	RunCommand,
} from "../run-command.js";

const ABOUT = `Shows where a run stands: its round and phase, what is waited for and since
when, its nodes with ranks and processes, restarts that are left, the last
incident. Without RUN_ID: which runs there are.
Runs without a store are looked for on this machine, all others in the store
that is named. Runs that ended on this machine are known for a week.
Exit code: 0, 1 where there is no such run, 3 where its keys cannot be read, 4
where the store does not answer.`;

const FLAGS = optionsOf("Command", {
	watch: onOff(
		"show it again whenever it changes, until the run has ended: on a terminal in place, elsewhere one line a change; it waits for a run that is not there yet",
	),
});

export const command = new RunCommand("status", "[RUN_ID]", ABOUT)
	.owns(FLAGS)
	.onRun(async (asked) => {
		if (asked.flags.value(FLAGS.watch)) {
			return (await import("./watch-status.js")).watchStatus(asked);
		}
		const { runId } = asked;
		return runId === undefined ? showRuns(asked) : showRun(runId, asked);
	});

/** So many runs that have ended are listed. */
const SHOWN_ENDED = 10;

async function showRun(
	runId: string,
	{ places, searcher, isJson }: AskedCommand,
): Promise<number> {
	const found = findKnownRun(runId, places, searcher, say);
	const [newest, ...others] = await found.catch((error) => {
		const { lines } = linksOf(runId, searcher);
		// What its launchers know by one another may be all that can be known now.
		if (isUnreachable(error) && lines.length > 0) say(lines.join("\n"));
		throw error;
	});
	if (newest === undefined) throw noRun(runId, places);
	for (const { place } of others) {
		say(`an older run of this name continues in ${place}`);
	}
	const { status, place } = newest;
	const { links, lines } = linksOf(runId, searcher);
	printResult(isJson, { ...status, place, links }, () =>
		[
			formatStatus(status, systemClock.wallTime()),
			...lines.map((line) => `${line}\n`),
		].join(""),
	);
	return EXIT_CODES.succeeded;
}

function linksOf(runId: string, searcher: Searcher) {
	const links = findLinks(runId, searcher);
	const now = systemClock.wallTime();
	const lines = links.map(
		({ nodeId, ...one }) =>
			`links of ${nodeId} on this machine: ${linksInWords(one, now)}`,
	);
	return { links, lines };
}

async function showRuns({
	places,
	searcher,
	isJson,
}: AskedCommand): Promise<number> {
	const known = newestFirst(await findKnownRuns(places, searcher, say));
	const ended = known.filter(({ status }) =>
		["ended", "abandoned"].includes(status.phase),
	);
	const hidden = ended.slice(SHOWN_ENDED);
	const found = known.filter((run) => !hidden.includes(run));
	if (hidden.length > 0 && !isJson) {
		say(
			`not shown: ${formatCount(hidden.length, "more run")} that ended within a week; name one, or see --output json`,
		);
	}
	printResult(isJson, { version: 1, runs: known.map(inShort) }, () =>
		formatRuns(found, systemClock.wallTime()),
	);
	if (places.isStoreAssumed && !isJson) {
		say(
			"these are the runs without a store, and those that ended here; for others add --rdzv-endpoint",
		);
	}
	return EXIT_CODES.succeeded;
}

function inShort({ status, place }: FoundRun) {
	const { runId, phase, since, instance, round, outcome, nodes } = status;
	const agents = nodes.filter(({ pid }) => pid !== null).length;
	return { runId, phase, since, instance, round, outcome, agents, place };
}
