// Makes the virtual environment in which tests meet real frameworks, outside of the project, and prints the path of its
// Python: `PYTHON=$(node scripts/make-python.js) npm run test:frameworks`. An environment that is there already is used.
// PYTHON_EXEC names the Python that it is made from (python3), TEST_VENVS the directory that holds it.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const requirements = fileURLToPath(
	new URL("../test/frameworks/requirements.txt", import.meta.url),
);
const base = process.env.PYTHON_EXEC || "python3";
const wanted = readFileSync(requirements, "utf8");
const torch = /^torch==.+$/m.exec(wanted)?.[0];

const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
const venvs = process.env.TEST_VENVS || join(cache, "elastic-run");
const venv = join(venvs, `frameworks-${digest(wanted + versionOf(base))}`);
const python = join(venv, "bin", "python");
const complete = join(venv, "complete");

if (!existsSync(complete)) {
	rmSync(venv, { recursive: true, force: true });
	run(base, "-m", "venv", venv);
	// Another package would ask for the newest torch, which is a build for GPUs of several gigabytes.
	run(python, "-m", "pip", "install", "--quiet", torch);
	run(python, "-m", "pip", "install", "--quiet", "-r", requirements);
	writeFileSync(complete, "");
}
console.log(python);

function versionOf(program) {
	return run(program, "-c", "import sys; print(sys.version)");
}

function digest(text) {
	return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

/** Returns what it printed; ends this program with its complaint where it fails. */
function run(program, ...args) {
	const { status, error, stdout } = spawnSync(program, args, {
		encoding: "utf8",
		stdio: ["ignore", "pipe", "inherit"],
	});
	if (status === 0) return stdout;
	const line = [program, ...args].join(" ");
	const why = error?.message ?? `it ended with ${status}`;
	console.error(`make-python: the environment cannot be made: ${line}: ${why}`);
	process.exit(1);
}
