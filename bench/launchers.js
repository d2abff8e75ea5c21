import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export const CLI = here("../dist/bin/elastic-run.js");
export const PYTHON = process.env.PYTHON || "python3";

/** What a worker that ignores SIGTERM gets, in seconds: none of the bench does. */
const SHUTDOWN_TIMEOUT_S = 3;

/** Both launchers that can show the workers' output take the same flag. */
const TEE = { default: [], off: ["--tee", "0"], on: ["--tee", "1"] };

/**
 * A launcher under measurement: `command` returns the program and arguments
 * with which it starts `count` workers whose output goes to files below
 * `directory`; `console` says whether also to its own stdout, or as it is by default.
 *
 * @typedef {object} Launcher
 * @property {string} name
 * @property {(request: { count: number, directory: string, console: "default" | "off" | "on", worker: readonly string[] }) => string[]} command
 */

/**
 * @param {string} [cli] the command of another build
 * @returns {Launcher}
 */
export const elasticRun = (cli = CLI) => ({
	name: "elastic-run",
	command: ({ count, directory, console, worker }) => [
		process.execPath,
		cli,
		...["--nproc-per-node", String(count), "--run-id", "bench"],
		...["--log-dir", directory, ...TEE[console]],
		...["--shutdown-timeout", String(SHUTDOWN_TIMEOUT_S), "--no-node"],
		...worker,
	],
});

/** @type {Launcher} */
const byHandInNode = {
	name: "Node by hand",
	command: ({ count, directory, worker }) => [
		process.execPath,
		here("peers/by-hand.js"),
		directory,
		String(count),
		...worker,
	],
};

/** @returns {Launcher} */
const byHandInC = (program) => ({
	name: "C by hand",
	command: ({ count, directory, worker }) => [
		program,
		directory,
		String(count),
		...worker,
	],
});

/** @type {Launcher} */
const torchrun = {
	name: "torchrun",
	command: ({ count, directory, console, worker }) => [
		PYTHON,
		...["-m", "torch.distributed.run", "--standalone", "--no-python"],
		...["--nproc-per-node", String(count), "--max-restarts", "3"],
		...["--log-dir", directory, "--redirects", "3"],
		...TEE[console],
		...["--shutdown-timeout", String(SHUTDOWN_TIMEOUT_S)],
		...worker,
	],
};

/**
 * The launchers that can run here, and why the others cannot.
 * @param {string} cLauncher the compiled by-hand.c
 * @returns {{ launchers: Launcher[], skipped: string[] }}
 */
export function findLaunchers(cLauncher) {
	const launchers = [elasticRun(), byHandInNode, byHandInC(cLauncher)];
	if (canImportTorch()) {
		return { launchers: [...launchers, torchrun], skipped: [] };
	}
	const why = `${PYTHON} cannot import torch; set PYTHON to one that can`;
	return { launchers, skipped: [`torchrun: ${why}`] };
}

let isTorchThere;

export function canImportTorch() {
	isTorchThere ??=
		spawnSync(PYTHON, ["-c", "import torch.distributed.run"]).status === 0;
	return isTorchThere;
}
