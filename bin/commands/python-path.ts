import { EXIT_CODES } from "../../src/base/errors.js";
import { pythonLibrary, pythonWheel } from "../../src/config/python-path.js";
import { print, say } from "../console.js";
import { asksForHelp } from "./own-flags.js";

const USAGE = `Usage: elastic-run python-path [--wheel]

Prints where Python finds the runtime library elastic_run, as an entry of
PYTHONPATH; for example:
  PYTHONPATH=$(elastic-run python-path) python3 train.py
A .py script that elastic-run launches has it already. With --wheel, prints the
path of the same library as a package for pip:
  pip install "$(elastic-run python-path --wheel)"
Exit code: 0.
`;

/** Prints the directory of the Python runtime library, as an entry of PYTHONPATH. Returns the exit code. */
export function pythonPath(args: readonly string[]): number {
	if (asksForHelp(args)) {
		print(USAGE);
		return EXIT_CODES.succeeded;
	}
	const wantsWheel = args.length === 1 && args[0] === "--wheel";
	if (args.length > 0 && !wantsWheel) {
		say(
			"python-path: it takes no arguments but --wheel; for example: PYTHONPATH=$(elastic-run python-path) python3 train.py",
		);
		return EXIT_CODES.usage;
	}
	print(`${wantsWheel ? pythonWheel() : pythonLibrary()}\n`);
	return EXIT_CODES.succeeded;
}
