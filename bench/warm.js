import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { endLauncher, until } from "./agents.js";
import { AGENT_ENVIRONMENT } from "./cluster/launchers.js";
import { CLI, PYTHON } from "./launchers.js";
import { readIfThere } from "./marks.js";

const WORKERS = 2;
/** How often a worker is killed in a run. */
const KILLS = 2;
/** How long each round runs: the processes for the next one are ready by then. */
const ROUND_MS = 3_000;
const PATIENCE_MS = 120_000;
const READY = "restarts will be warm";
const COLD = "elastic-run, cold";
const IMPORTS = "to import torch";

const flags = ["--nproc-per-node", String(WORKERS), "--max-restarts", "9"];
const own = (warm) => [
	process.execPath,
	...[CLI, "--warm", warm, ...flags, "--run-id", "bench-warm"],
];

/**
 * From a worker's death to the last rank's first finished step.
 * @type {readonly import("./figures.js").Figure[]}
 */
export const WARM_FIGURES = [
	warmFigure("warm-torch", "warm/train.py", {
		trainer: "PyTorch's DistributedDataParallel",
		needsTorch: true,
		atMost: 0.1,
		beside: [{ name: IMPORTS, measure: importTorch }],
	}),
	warmFigure("warm-node", "warm/train.js", {
		trainer: "Node",
		atMost: 0.5,
	}),
];

/** @returns {import("./figures.js").Figure} */
function warmFigure(name, program, options) {
	const { trainer, atMost, beside = [], ...figure } = options;
	const script = fileURLToPath(new URL(program, import.meta.url));
	const run = (command, place) =>
		playKills([...command, script], place, {
			hasHelper: program.endsWith(".py") && command.includes("auto"),
		});
	return {
		name,
		title: `a worker of ${WORKERS} in ${trainer} is killed → the last rank's first step, warm`,
		unit: "ms",
		rounds: 2,
		peers: [],
		...figure,
		goal: { atMost, times: [COLD] },
		beside: [
			{ name: COLD, measure: (place) => run(own("off"), place) },
			...beside,
		],
		measure: (_, place) => run(own("auto"), place),
	};
}

/** @returns {Promise<number[]>} the milliseconds after each kill */
async function playKills(command, { scratch, isQuick }, { hasHelper }) {
	const folder = mkdtempSync(join(scratch, "warm-"));
	const env = { PYTHON_EXEC: PYTHON, ELASTIC_RUN_LOG_DIR: folder };
	const [file = "", ...args] = command;
	const child = spawn(file, [...args, folder], {
		env: { ...process.env, ...AGENT_ENVIRONMENT, ...env },
		stdio: ["ignore", "ignore", "pipe"],
	});
	const launcher = { child, said: "" };
	child.stderr.setEncoding("utf8").on("data", (text) => {
		launcher.said += text;
	});
	const abandon = () => child.kill("SIGKILL");
	process.prependListener("exit", abandon);
	const wait = (what, isSo) => until(what, isSo, [launcher], PATIENCE_MS);
	const areBack = async (from) => {
		const all = () => firstSteps(folder, from);
		await wait("all workers make a step", () => all().length === WORKERS);
		return all();
	};
	try {
		let steps = await areBack(0);
		if (hasHelper) await wait(READY, () => launcher.said.includes(READY));
		const times = [];
		while (times.length < (isQuick ? 1 : KILLS)) {
			await sleep(ROUND_MS);
			const from = Date.now();
			const [victim] = steps.filter(({ rank }) => rank === 1);
			process.kill(victim.pid, "SIGKILL");
			steps = await areBack(from);
			times.push(Math.max(...steps.map(({ at }) => at)) - from);
		}
		return times;
	} finally {
		process.off("exit", abandon);
		await endLauncher(child);
	}
}

/** Those of processes that began after this time. */
function firstSteps(folder, from) {
	return readIfThere(join(folder, "marks"))
		.split("\n")
		.slice(0, -1)
		.map((line) => line.split(" ").map(Number))
		.map(([, rank, pid, at]) => ({ rank, pid, at }))
		.filter(({ at }) => at > from);
}

function importTorch() {
	const start = performance.now();
	spawnSync(PYTHON, ["-c", "import torch"]);
	return performance.now() - start;
}
