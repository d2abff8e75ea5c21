import { EXIT_CODES } from "../../src/base/errors.js";
import { say } from "../console.js";
import { refuse } from "./command-arguments.js";
import type { CommandName } from "./command-table.js";
import { type AskedCommand, placesInWords } from "./run-request.js";

/** The name of the only run that runs, or the exit code after it was said that there is none or more. */
export async function onlyRun(
	command: CommandName,
	{ places, searcher }: AskedCommand,
): Promise<string | number> {
	const { findRuns } = await import("../../src/operate/status/find-runs.js");
	const found = await findRuns(places, searcher, say);
	const running = found.filter(({ status }) => status.phase === "running");
	const [first, ...others] = running.map(({ status }) => status.runId);
	if (first !== undefined && others.length === 0) return first;
	if (first === undefined) {
		say(`no run runs ${placesInWords(places)}`);
		return EXIT_CODES.failed;
	}
	return refuse([
		`${command}: several runs run: name one of ${[first, ...others].join(", ")}`,
	]);
}
