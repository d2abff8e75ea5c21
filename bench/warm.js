// Measures the time from a worker's death to the last rank's first finished optimizer step, with PyTorch's
// DistributedDataParallel on one node: warm, cold, and under torchrun. With `--trainer node` the same for a Node trainer.
// Usage: PYTHON=/path/with/torch node bench/warm.js [--trainer torch|node] [--workers 4] [--restarts 20]
//   [--launchers warm,cold,torchrun]
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { endLauncher, until } from "./agents.js";
import { AGENT_ENVIRONMENT } from "./cluster/launchers.js";
import { CLI, PYTHON } from "./launchers.js";

/** How long each round runs: the processes for the next one are ready by then. */
const ROUND_MS = 3_000;
const PATIENCE_MS = 120_000;

const { values } = parseArgs({
	options: {
		trainer: { type: "string", default: "torch" },
		workers: { type: "string", default: "4" },
		restarts: { type: "string", default: "20" },
		launchers: { type: "string" },
	},
});
const isTorch = values.trainer === "torch";
const trainer = isTorch ? "warm/train.py" : "warm/train.js";
const SCRIPT = fileURLToPath(new URL(trainer, import.meta.url));
const launchers =
	values.launchers ?? (isTorch ? "warm,cold,torchrun" : "warm,cold");
const workers = Number(values.workers);
const restarts = Number(values.restarts);

const common = ["--nproc-per-node", String(workers)];
const budget = ["--max-restarts", String(restarts)];
const own = (warm) => [
	process.execPath,
	[CLI, "--warm", warm, ...common, ...budget, "--run-id", "bench-warm"],
];
const COMMANDS = {
	warm: own("auto"),
	cold: own("off"),
	torchrun: [
		PYTHON,
		["-m", "torch.distributed.run", "--standalone", ...common, ...budget],
	],
};

for (const name of launchers.split(",")) {
	try {
		await show(name);
	} catch (error) {
		console.log(`${name.padEnd(9)} ${error.message}`);
		process.exitCode = 1;
	}
}

async function show(name) {
	const times = await measure(...COMMANDS[name], name === "warm" && isTorch);
	const sorted = times.toSorted((a, b) => a - b);
	const at = (part) => sorted[Math.floor((sorted.length - 1) * part)];
	console.log(
		`${name.padEnd(9)} median ${at(0.5)} ms, least ${at(0)}, 95 % ${at(0.95)} (${times.length} restarts of ${workers} workers)`,
	);
}

async function measure(program, args, waitsForHelper) {
	const folder = mkdtempSync(join(tmpdir(), "bench-warm-"));
	const child = spawn(program, [...args, SCRIPT, folder], {
		env: {
			...{ ...process.env, ...AGENT_ENVIRONMENT },
			...{ PYTHON_EXEC: PYTHON, ELASTIC_RUN_LOG_DIR: folder },
		},
		stdio: ["ignore", "ignore", "pipe"],
	});
	const launcher = { child, said: "" };
	child.stderr.setEncoding("utf8").on("data", (text) => {
		launcher.said += text;
	});
	const wait = (what, isSo) => until(what, isSo, [launcher], PATIENCE_MS);
	const areBack = (from) =>
		wait(
			"all workers make a step",
			() => marksOf(folder, from).length === workers,
		);
	try {
		await areBack(0);
		if (waitsForHelper) {
			const isReady = () => launcher.said.includes("restarts will be");
			await wait("the next restart is warm", isReady);
		}
		const times = [];
		let from = 0;
		while (times.length < restarts) {
			await sleep(ROUND_MS);
			const [victim] = marksOf(folder, from).filter(({ rank }) => rank === 1);
			from = Date.now();
			process.kill(victim.pid, "SIGKILL");
			await areBack(from);
			times.push(Math.max(...marksOf(folder, from).map(({ at }) => at)) - from);
		}
		return times;
	} finally {
		await endLauncher(child);
		rmSync(folder, { recursive: true, force: true });
	}
}

/** The first steps of processes that began after this time. */
function marksOf(folder, from) {
	let text = "";
	try {
		text = readFileSync(join(folder, "marks"), "utf8");
	} catch {
		// No worker has made a step yet.
	}
	return text
		.split("\n")
		.filter((line) => line !== "")
		.map((line) => line.split(" ").map(Number))
		.map(([, rank, pid, at]) => ({ rank, pid, at }))
		.filter(({ at }) => at > from);
}
