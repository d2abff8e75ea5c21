import { EXIT_CODES } from "../../src/base/errors.js";
import { alignColumns } from "../../src/base/table.js";
import { formatCount, formatDuration } from "../../src/base/units.js";
import { onOff, optionsOf, parseDuration } from "../../src/config/index.js";
import { plainMessage } from "../../src/logs/index.js";
import { type CleanReport, clean } from "../../src/operate/index.js";
import { printResult, say } from "../console.js";
import { type AskedCommand, RunCommand } from "../run-command.js";

const ABOUT = `Lists what nobody uses any more, and removes it with --yes: in the store that is
named the runs that have ended or of which nobody is left, with their history;
on this machine the directories of launchers that are gone; with --logs also
temporary log directories of ended runs. Never what belongs to a run that lives,
nor logs below a --log-dir. What is younger than --older-than (1h) is left out.
Exit code: 0, 1 where something could not be removed, 4 where the store does not
answer.`;

const FLAGS = optionsOf("Command", {
	yes: onOff("remove what is listed"),
	logs: onOff("temporary log directories of ended runs as well"),
	olderThan: {
		argument: "TIME",
		defaultText: "1h",
		help: "leave out what is younger",
		parse: parseDuration,
	},
});

export const command = new RunCommand("clean", "[RUN_ID]", ABOUT)
	.owns(FLAGS)
	.onRun(listOrRemove);

async function listOrRemove(asked: AskedCommand): Promise<number> {
	const { runId, flags, places, searcher, isJson } = asked;
	const removes = flags.value(FLAGS.yes);
	const report = await clean(
		{
			runId,
			removes,
			olderThanMs: flags.value(FLAGS.olderThan),
			withLogs: flags.value(FLAGS.logs),
			warn: say,
		},
		places,
		searcher,
	);
	const { items } = report;
	const typedAge = flags.textOf(FLAGS.olderThan) ?? FLAGS.olderThan.defaultText;
	printResult(isJson, { version: 1, items }, () =>
		inWords(report, typedAge, searcher.clock.wallTime()),
	);
	if (!isJson && items.length > 0 && !removes) {
		say("nothing was removed; --yes removes what is listed");
	}
	return items.some(({ removed }) => removed === false)
		? EXIT_CODES.failed
		: EXIT_CODES.succeeded;
}

function inWords(
	{ items, younger, logs }: CleanReport,
	typedAge: string,
	wallTime: number,
): string {
	if (items.length === 0) {
		const rest = [
			...(younger > 0 ? [`${younger} younger (see --older-than)`] : []),
			...(logs > 0
				? [`${formatCount(logs, "temporary log")} (see --logs)`]
				: []),
		];
		return rest.length === 0
			? "nothing is left over\n"
			: `${younger > 0 ? `nothing older than ${typedAge};` : "nothing is left over but"} ${rest.join(", ")}\n`;
	}
	const rows = items.map(({ kind, name, why, since, removed, problem }) => [
		kind,
		since === null ? "?" : formatDuration(Math.max(0, wallTime - since)),
		removed === null ? "-" : removed ? "removed" : `stays: ${problem}`,
		name,
		why,
	]);
	const header = ["what", "age", "done", "name", "why"];
	return alignColumns([header, ...rows])
		.map((line) => `${plainMessage(line)}\n`)
		.join("");
}
