// Measures the time from a worker's death to the last rank's first finished optimizer step, with PyTorch's
// DistributedDataParallel on one node: warm, cold, and under torchrun. With `--trainer node` the same for a Node trainer.
// Usage: PYTHON=/path/with/torch node bench/warm.js [--trainer torch|node] [--workers 4] [--restarts 20]
//   [--launchers warm,cold,torchrun]
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
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
		env: { ...process.env, PYTHON_EXEC: PYTHON, ELASTIC_RUN_LOG_DIR: folder },
		stdio: ["ignore", "ignore", "pipe"],
	});
	let said = "";
	child.stderr.setEncoding("utf8").on("data", (text) => {
		said += text;
	});
	const ended = new Promise((resolve) => child.once("exit", resolve));
	try {
		await until(() => marksOf(folder, 0).length === workers);
		if (waitsForHelper) await until(() => said.includes("restarts will be"));
		const times = [];
		for (let count = 1; count <= restarts; count += 1) {
			await sleep(ROUND_MS);
			const [victim] = marksOf(folder, count - 1).filter(({ rank }) => rank === 1);
			const killedAt = Date.now();
			process.kill(victim.pid, "SIGKILL");
			await until(() => marksOf(folder, count).length === workers);
			const last = Math.max(...marksOf(folder, count).map(({ at }) => at));
			times.push(last - killedAt);
		}
		writeFileSync(join(folder, "done"), "");
		await ended;
		return times;
	} catch (error) {
		child.kill("SIGTERM");
		await ended;
		throw new Error(`${error.message}\n${said.slice(-2_000)}`);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/** The first steps after so many restarts. */
function marksOf(folder, restart) {
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
		.filter(([count]) => count === restart)
		.map(([, rank, pid, at]) => ({ rank, pid, at }));
}

async function until(isSo) {
	for (let waited = 0; !isSo(); waited += 5) {
		if (waited > PATIENCE_MS) {
			throw new Error(
				`not all workers were back after ${PATIENCE_MS / 1000} s`,
			);
		}
		await sleep(5);
	}
}
