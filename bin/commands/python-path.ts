import { EXIT_CODES } from "../../src/base/errors.js";
import {
	onOff,
	optionsOf,
	pythonLibrary,
	pythonWheel,
} from "../../src/config/index.js";
import { CliCommand } from "../command.js";
import { print } from "../console.js";

const ABOUT = `Prints where Python finds the runtime library elastic_run, as an entry of
PYTHONPATH; for example:
  PYTHONPATH=$(elastic-run python-path) python3 train.py
A .py script that elastic-run launches has it already. With --wheel, prints the
path of the same library as a package for pip:
  pip install "$(elastic-run python-path --wheel)"
Exit code: 0.`;

const FLAGS = optionsOf("Command", {
	wheel: onOff("the path of the library as a package for pip"),
});

export const command = new CliCommand("python-path", "", ABOUT)
	.owns(FLAGS)
	.does(({ flags }) => {
		print(`${flags.value(FLAGS.wheel) ? pythonWheel() : pythonLibrary()}\n`);
		return EXIT_CODES.succeeded;
	});
