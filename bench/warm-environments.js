// For each environment people train in: from the start of a cold worker to its first step, from its death to its warm
// successor's, and how long after the first step restarts are warm. One run each.
// Usage: PYTHON=/path/with/all/of/them node bench/warm-environments.js [tqdm trainer accelerate lightning datasets trl
//   science tensorboard wandb compiled forked spawned]
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { endLauncher, until } from "./agents.js";
import { AGENT_ENVIRONMENT } from "./cluster/launchers.js";
import { CLI, PYTHON } from "./launchers.js";

const PATIENCE_MS = 170_000;
const SCRIPT = fileURLToPath(new URL("warm/environments.py", import.meta.url));
const ALL =
	"tqdm trainer accelerate lightning datasets trl science tensorboard wandb compiled forked spawned";
const asked = process.argv.slice(2);

console.log("| environment | cold | warm | warm after |\n|---|---|---|---|");
for (const name of asked.length > 0 ? asked : ALL.split(" ")) {
	try {
		await show(name);
	} catch (error) {
		console.log(`| ${name} | ${error.message.split("\n")[0]} | | |`);
		process.exitCode = 1;
	}
}

async function show(name) {
	const folder = mkdtempSync(join(tmpdir(), "bench-warm-"));
	const child = spawn(
		process.execPath,
		[CLI, "--warm", "auto", "--log-dir", join(folder, "logs"), SCRIPT, name],
		{
			cwd: folder,
			env: { ...process.env, ...AGENT_ENVIRONMENT, PYTHON_EXEC: PYTHON },
			stdio: ["ignore", "pipe", "pipe"],
		},
	);
	const launcher = { child, said: "" };
	for (const stream of [child.stdout, child.stderr]) {
		stream.setEncoding("utf8").on("data", (text) => {
			launcher.said += text;
		});
	}
	const sees = (words, isSo) => until(words, isSo, [launcher], PATIENCE_MS);
	const step = (round) =>
		new RegExp(`round ${round}: step at (\\d+) by (\\d+)`).exec(launcher.said);
	try {
		await sees("a worker starts", () => launcher.said.includes("→RUNNING"));
		const began = Date.now();
		await sees("a step", () => step(1) !== null);
		const [, first, pid] = (step(1) ?? []).map(Number);
		const words = /restarts will be (.*)/;
		await sees("the helper", () => words.test(launcher.said));
		const ready = Date.now();
		process.kill(pid, "SIGKILL");
		const killed = Date.now();
		await sees("a step again", () => step(2) !== null);
		const [, second] = (step(2) ?? []).map(Number);
		const seconds = (milliseconds) => `${(milliseconds / 1_000).toFixed(1)} s`;
		console.log(
			`| ${name} | ${seconds(first - began)} | ${seconds(second - killed)} | ${seconds(ready - first)} |`,
		);
		console.error(`${name}: ${words.exec(launcher.said)?.[1]}`);
	} finally {
		await endLauncher(child);
		rmSync(folder, { recursive: true, force: true });
	}
}
