import { findLogs } from "../../src/agent/operate/find-logs.js";
import type { LogLine } from "../../src/agent/operate/log-source.js";
import { parseRanks } from "../../src/agent/operate/parse-ranks.js";
import { showLogs } from "../../src/agent/operate/show-logs.js";
import { EXIT_CODES, messageOf } from "../../src/errors.js";
import { print, say } from "../console.js";
import { type AskedCommand, refuse, runCommand } from "./run-request.js";

const USAGE = `Usage: elastic-run logs [RUN_ID] [-f] [--rank 0,3-5] [--grep RE] [--log-dir DIR]
                        [--config FILE] [--output text|json]

Shows what this machine has of a run's logs, merged by time: the workers' lines, and the launchers'
own unless ranks are named. A line without a time of its own has that of the line before it, and the
first ones that of their file. Without RUN_ID: of the run that was started last.
Logs are looked for where the run's launchers are that live, below --log-dir (the run's own, if it
had one), else in the temporary directory.
-f goes on with what comes, until none of the run's launchers of this machine is left.
Exit code: 0, 1 where there are no logs of such a run here.
`;

/** What is handed to the system at once, in characters. */
const CHUNK_CHARACTERS = 64 * 1024;

/** Shows the lines of a run's logs. Returns the exit code. */
export function logs(args: readonly string[]): Promise<number> {
	return runCommand("logs", USAGE, args, show);
}

async function show(asked: AskedCommand): Promise<number> {
	const { own, named, searcher, isJson } = asked;
	const choice = readChoice(own);
	if ("problems" in choice) {
		return refuse(choice.problems.map((words) => `logs: ${words}`));
	}
	const runId = asked.runId ?? named.runId;
	const found = findLogs(runId, own.get("log-dir") ?? named.logDir, searcher);
	if (found === undefined) {
		say(
			`this machine has no logs ${runId === undefined ? "of any run" : `of run ${runId}`}; name the --log-dir that it was started with`,
		);
		return EXIT_CODES.failed;
	}
	const follows = own.has("follow");
	const out = new LineWriter(follows);
	const shown = await showLogs({
		...choice,
		...{ logs: found, follows, searcher },
		onLine: (line) => out.write(isJson ? JSON.stringify(line) : inWords(line)),
	});
	await out.flush();
	if (shown.filesWithoutTimes > 0 && !isJson) {
		say(
			`${shown.filesWithoutTimes} of ${shown.files} files have no times in their lines: each of them stands where it was begun`,
		);
	}
	return EXIT_CODES.succeeded;
}

function readChoice(own: ReadonlyMap<string, string>) {
	const rank = own.get("rank");
	const ranks = rank === undefined ? undefined : parseRanks(rank);
	if (ranks !== undefined && "problems" in ranks) {
		return { problems: ranks.problems.map((words) => `--rank: ${words}`) };
	}
	const text = own.get("grep");
	try {
		const pattern = text === undefined ? undefined : new RegExp(text);
		return { hasRank: ranks?.value, pattern };
	} catch (error) {
		return { problems: [`--grep: ${messageOf(error)}`] };
	}
}

function inWords({ nodeId, rank, localRank, stream, text }: LogLine): string {
	const who =
		stream === "launcher" ? "launcher" : (rank ?? `local rank ${localRank}`);
	return `[${nodeId} ${who}] ${text}`;
}

/** Writes lines as fast as they are taken; of those that are followed each at once. */
class LineWriter {
	#text = "";
	#hasReader = true;

	constructor(private readonly isHurried: boolean) {}

	/** Resolves with whether there is still a reader. */
	async write(line: string): Promise<boolean> {
		this.#text += `${line}\n`;
		const isDue = this.isHurried || this.#text.length >= CHUNK_CHARACTERS;
		if (isDue) await this.flush();
		return this.#hasReader;
	}

	flush(): Promise<void> {
		const text = this.#text;
		this.#text = "";
		return new Promise((resolve) => {
			print(text, (error) => {
				if (error) this.#hasReader = false;
				resolve();
			});
		});
	}
}
