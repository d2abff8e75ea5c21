import { EXIT_CODES, messageOf } from "../../src/base/errors.js";
import {
	OPTIONS,
	ok,
	onOff,
	optionsOf,
	type Parsed,
	parseCount,
	parseDuration,
	problem,
} from "../../src/config/index.js";
import { plainJson } from "../../src/logs/index.js";
import {
	findLogs,
	lineInWords,
	parseRanks,
	showLogs,
} from "../../src/operate/index.js";
import { isColoured, print, say } from "../console.js";
import { NotFound } from "../crash.js";
import { type AskedCommand, RunCommand } from "../run-command.js";

const ABOUT = `Shows what this machine has of a run's logs, merged by time: the workers' lines,
and, unless you name ranks, the launchers' lines. Without RUN_ID it shows the
run that was started last. A line that says no time has the time of the line
before it, or else the time at which the launcher saw it.
The command looks for logs below --log-dir; without this flag, where the run's
launchers write, or have written, and in the temporary directory.
Exit code: 0; 1 if this machine has no logs of such a run.`;

const FLAGS = optionsOf("Command", {
	follow: onOff(
		"go on with new lines, until no launcher of the run is left here",
		{ short: "f" },
	),
	rank: { argument: "0,3-5", help: "lines of these ranks", parse: parseRanks },
	grep: {
		argument: "RE",
		help: "lines that match this regular expression",
		parse: parsePattern,
	},
	tail: {
		argument: "N",
		help: "the last N lines of each worker and launcher",
		parse: parseCount,
	},
	since: {
		argument: "TIME",
		help: "no lines that are known to be older, as 5m",
		parse: parseDuration,
	},
	timestamps: onOff("the time before each line"),
});

/** The size of one write, in characters. */
const CHUNK_CHARACTERS = 64 * 1024;

export const command = new RunCommand("logs", "[RUN_ID]", ABOUT)
	.owns(FLAGS)
	.takes(OPTIONS.logDir)
	.onLocalRun(show);

async function show(asked: AskedCommand): Promise<number> {
	const { given, flags, named, searcher, isJson } = asked;
	const runId = asked.runId ?? named.runId;
	const isOnly = given.has(OPTIONS.logDir.key);
	const logs = findLogs(runId, { logDir: named.logDir, isOnly }, searcher);
	if (logs === undefined) {
		const where = isOnly ? named.logDir : "this machine";
		throw new NotFound(
			runId === undefined
				? `${where} has no logs of any run; name the --log-dir that it was started with`
				: `${where} has no logs of run ${runId}: no round of it has begun here, or it was started with another --log-dir: name that`,
		);
	}
	const follows = flags.value(FLAGS.follow);
	const age = flags.given(FLAGS.since);
	const out = new LineWriter(follows);
	const look = {
		hasTime: flags.value(FLAGS.timestamps),
		colours: isColoured(process.stdout),
	};
	const shown = await showLogs({
		logs,
		follows,
		searcher,
		hasRank: flags.given(FLAGS.rank),
		pattern: flags.given(FLAGS.grep),
		tail: flags.given(FLAGS.tail),
		since: age === undefined ? undefined : searcher.clock.wallTime() - age,
		onLine: (line) =>
			out.write(isJson ? plainJson(line) : lineInWords(line, look)),
	});
	await out.flush();
	if (!shown.hasRound && !isJson) {
		say(`no round of run ${logs.runId} has begun here: no worker has a log`);
	}
	if (shown.filesWithoutTimes > 0 && !isJson) {
		const what =
			age === undefined
				? "each of them stands where it was begun"
				: "--since shows all of each that was written to since then";
		say(
			`${shown.filesWithoutTimes} of ${shown.files} files have no times in their lines: ${what}`,
		);
	}
	return EXIT_CODES.succeeded;
}

/** Writes lines as fast as the reader takes them; with `--follow` each at once. */
class LineWriter {
	private text = "";
	private hasReader = true;

	constructor(private readonly isHurried: boolean) {}

	/** Resolves with whether there is still a reader. */
	async write(line: string): Promise<boolean> {
		this.text += `${line}\n`;
		const isDue = this.isHurried || this.text.length >= CHUNK_CHARACTERS;
		if (isDue) await this.flush();
		return this.hasReader;
	}

	flush(): Promise<void> {
		const text = this.text;
		this.text = "";
		return new Promise((resolve) => {
			print(text, (error) => {
				if (error) this.hasReader = false;
				resolve();
			});
		});
	}
}

function parsePattern(text: string): Parsed<RegExp> {
	try {
		return ok(new RegExp(text));
	} catch (error) {
		return problem(messageOf(error));
	}
}
