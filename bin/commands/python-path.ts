import { EXIT_CODES } from "../../src/base/errors.js";
import { pythonLibrary, pythonWheel } from "../../src/config/hooks.js";
import { print } from "../console.js";
import { withArguments } from "./command-arguments.js";

const ABOUT = `Prints where Python finds the runtime library elastic_run, as an entry of
PYTHONPATH; for example:
  PYTHONPATH=$(elastic-run python-path) python3 train.py
A .py script that elastic-run launches has it already. With --wheel, prints the
path of the same library as a package for pip:
  pip install "$(elastic-run python-path --wheel)"
Exit code: 0.
`;

/** Prints the directory of the Python runtime library, as an entry of PYTHONPATH. Returns the exit code. */
export function pythonPath(args: readonly string[]): Promise<number> {
	return withArguments("python-path", ABOUT, args, ({ flags }) => {
		print(`${flags.has("wheel") ? pythonWheel() : pythonLibrary()}\n`);
		return EXIT_CODES.succeeded;
	});
}
