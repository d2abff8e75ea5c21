import { EXIT_CODES, messageOf } from "../../src/base/errors.js";
import { OPTIONS } from "../../src/config/options.js";
import type { Parsed } from "../../src/config/parse/parsed.js";
import { parseCount, parseDuration } from "../../src/config/parse/scalars.js";
import type { Settings } from "../../src/config/settings.js";
import { plainJson } from "../../src/logs/plain-text.js";
import { findLogs } from "../../src/operate/find-logs.js";
import {
	type LineChoice,
	lineInWords,
	parseRanks,
	showLogs,
} from "../../src/operate/show-logs.js";
import { isColoured, print, say } from "../console.js";
import { FlagReader, refuse } from "./command-arguments.js";
import { type AskedCommand, runCommand } from "./run-request.js";

const ABOUT = `Shows what this machine has of a run's logs, merged by time: the workers' lines,
and, unless you name ranks, the launchers' lines. Without RUN_ID it shows the
run that was started last. A line that says no time has the time of the line
before it, or else the time at which the launcher saw it.
The command looks for logs below --log-dir; without this flag, where the run's
launchers write, or have written, and in the temporary directory.
--rank 0,3-5   only lines of these ranks
--grep RE      only lines that match this regular expression
--tail N       only the last N lines
--since 5m     no lines that are known to be older
--timestamps   the time before each line
-f             go on with new lines, until no launcher of the run is left here
Exit code: 0; 1 if this machine has no logs of such a run.
`;

/** The size of one write, in characters. */
const CHUNK_CHARACTERS = 64 * 1024;

/** Shows the lines of a run's logs. Returns the exit code. */
export function logs(args: readonly string[]): Promise<number> {
	return runCommand("logs", ABOUT, args, show);
}

async function show(asked: AskedCommand): Promise<number> {
	const { flags, named, searcher, isJson } = asked;
	const choice = readLogChoice(flags, searcher.clock.wallTime());
	if ("problems" in choice) return refuse(choice.problems);
	const runId = asked.runId ?? named.runId;
	const isOnly = flags.has(OPTIONS.logDir.key);
	const found = findLogs(runId, { logDir: named.logDir, isOnly }, searcher);
	if (found === undefined) {
		const where = isOnly ? named.logDir : "this machine";
		say(
			`${where} has no logs ${runId === undefined ? "of any run" : `of run ${runId}`}; name the --log-dir that it was started with`,
		);
		return EXIT_CODES.failed;
	}
	const follows = flags.has("follow");
	const out = new LineWriter(follows);
	const look = {
		hasTime: flags.has("timestamps"),
		colours: isColoured(process.stdout),
	};
	const shown = await showLogs({
		...choice,
		...{ logs: found, follows, searcher },
		onLine: (line) =>
			out.write(isJson ? plainJson(line) : lineInWords(line, look)),
	});
	await out.flush();
	if (shown.filesWithoutTimes > 0 && !isJson) {
		const what =
			choice.since === undefined
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

/**
 * The lines to show, chosen by the flags of `logs`.
 * @param now milliseconds since 1970
 */
export function readLogChoice(
	flags: Settings,
	now: number,
): LineChoice | { readonly problems: readonly string[] } {
	const reader = new FlagReader("logs", flags);
	const hasRank = reader.read("rank", parseRanks);
	const pattern = reader.read("grep", parsePattern);
	const tail = reader.read("tail", parseCount);
	const age = reader.read("since", parseDuration);
	const { problems } = reader;
	const since = age === undefined ? undefined : now - age;
	return problems.length > 0 ? { problems } : { hasRank, pattern, tail, since };
}

function parsePattern(text: string): Parsed<RegExp> {
	try {
		return { value: new RegExp(text) };
	} catch (error) {
		return { problems: [messageOf(error)] };
	}
}
