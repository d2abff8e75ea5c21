import { pythonLibrary } from "../../src/agent/configuration/python-path.js";
import { EXIT_CODES } from "../../src/errors.js";
import { print, say } from "../console.js";
import { asksForHelp } from "./asks-for-help.js";

const USAGE = `Usage: elastic-run python-path

Prints where Python finds the runtime library elastic_run, as an entry of PYTHONPATH; for example:
  PYTHONPATH=$(elastic-run python-path) python3 train.py
A .py script that elastic-run launches has it already.
Exit code: 0.
`;

/** Prints where Python finds the runtime library, as an entry of PYTHONPATH. Returns the exit code. */
export function pythonPath(args: readonly string[]): number {
	if (asksForHelp(args)) {
		print(USAGE);
		return EXIT_CODES.succeeded;
	}
	if (args.length > 0) {
		say(
			"python-path: it takes no arguments; for example: PYTHONPATH=$(elastic-run python-path) python3 train.py",
		);
		return EXIT_CODES.usage;
	}
	print(`${pythonLibrary()}\n`);
	return EXIT_CODES.succeeded;
}
