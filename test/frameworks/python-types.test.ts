// What type checkers say of the library for Python, and of a script that uses it.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { LIBRARY } from "../fixtures/python/start-python.js";
import { ROOT } from "../helpers/import-graph.js";
import { openSite } from "../helpers/launch.js";
import { needModules, PYTHON } from "../helpers/torch-trainers.js";

const CONFIG = join(LIBRARY, "pyproject.toml");
const FILES = [
	join(LIBRARY, "elastic_run"),
	join(ROOT, "test/fixtures/python/typed.py"),
];

it.for([
	["mypy", ["--strict", "--config-file", CONFIG], /^Success: no issues found/],
	["pyright", [], /^0 errors, 0 warnings/m],
] as const)(
	"%s accepts the library and a user's script",
	{ timeout: 300_000 },
	([name, flags, accepted], context) => {
		needModules(context, name);
		const { path } = openSite();
		const { stdout, stderr } = spawnSync(
			PYTHON,
			["-m", name, ...flags, ...FILES],
			{
				cwd: path,
				env: {
					PATH: process.env.PATH,
					HOME: path,
					MYPYPATH: LIBRARY,
					PYTHONPATH: LIBRARY,
				},
				encoding: "utf8",
			},
		);
		expect(`${stdout}${stderr}`).toMatch(accepted);
	},
);
