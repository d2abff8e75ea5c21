// Measures with PyTorch's DistributedDataParallel on two nodes (agents on this machine, one etcd) the time until the last
// rank's first finished optimizer step: after a worker's death (`warm`, `cold`, `torchrun`), and after a node was told to
// leave and a spare took its place (`spare-warm`, `spare-cold`).
// Usage: PYTHON=/path/with/torch node bench/warm-nodes.js [--workers 2] [--restarts 10] [--launchers warm,cold,torchrun,spare-warm,spare-cold]
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { endLauncher, until } from "./agents.js";
import { AGENT_ENVIRONMENT } from "./cluster/launchers.js";
import { Etcd, freePort } from "./etcd.js";
import { CLI, PYTHON } from "./launchers.js";

const SCRIPT = fileURLToPath(new URL("warm/train.py", import.meta.url));
/** How long each round runs: the processes for the next one are ready by then. */
const ROUND_MS = 3_000;
const PATIENCE_MS = 300_000;
const READY = "restarts will be warm";

const { values } = parseArgs({
	options: {
		workers: { type: "string", default: "2" },
		restarts: { type: "string", default: "10" },
		launchers: {
			type: "string",
			default: "warm,cold,torchrun,spare-warm,spare-cold",
		},
	},
});
/** Of each node. */
const workers = Number(values.workers);
const restarts = Number(values.restarts);
let opened = 0;
const scratch = mkdtempSync(join(tmpdir(), "bench-warm-nodes-"));
const etcd = await Etcd.start(scratch);
try {
	for (const name of values.launchers.split(",")) {
		try {
			await show(name);
		} catch (error) {
			console.log(`${name.padEnd(10)} ${error.message}`);
			process.exitCode = 1;
		}
	}
} finally {
	await etcd.stop();
	rmSync(scratch, { recursive: true, force: true });
}

async function show(name) {
	const times = await measure(name);
	const sorted = times.toSorted((a, b) => a - b);
	const at = (part) => sorted[Math.floor((sorted.length - 1) * part)];
	console.log(
		`${name.padEnd(10)} median ${at(0.5)} ms, least ${at(0)}, 95 % ${at(0.95)} (${times.length} restarts of 2 × ${workers} workers; load ${loadavg()[0].toFixed(1)})`,
	);
}

async function measure(name) {
	const folder = mkdtempSync(join(scratch, "run-"));
	/** @type {{ child: import("node:child_process").ChildProcess, said: string }[]} */
	const nodes = [];
	const wait = (what, isSo) => until(what, isSo, nodes, PATIENCE_MS);
	const areBack = (from) =>
		wait(
			"all workers make a step",
			() => since(folder, from).length === 2 * workers,
		);
	const port = await freePort();
	const open = () => nodes.push(openNode(name, port, folder));
	const isWarm = name.endsWith("warm");
	try {
		open();
		open();
		await areBack(0);
		if (name.startsWith("spare")) open();
		const isReady = () => nodes.every((node) => node.said.includes(READY));
		if (isWarm) await wait("the next restart is warm", isReady);
		const times = [];
		while (times.length < restarts) {
			await sleep(ROUND_MS);
			const from = Date.now();
			if (name.startsWith("spare")) nodes.shift()?.child.kill("SIGTERM");
			else process.kill(newest(folder, 1).pid, "SIGKILL");
			await areBack(from);
			times.push(Math.max(...since(folder, from).map(({ at }) => at)) - from);
			if (!name.startsWith("spare")) continue;
			open();
			if (isWarm) await wait("the next restart is warm", isReady);
		}
		return times;
	} finally {
		await Promise.all(nodes.map(({ child }) => endLauncher(child)));
	}
}

function openNode(name, port, folder) {
	const common = ["--nnodes", "2", "--nproc-per-node", String(workers)];
	const budget = ["--max-restarts", String(restarts + 1)];
	const at = (endpoint) => ["--rdzv-endpoint", endpoint];
	const run = `bench-${name}-${port}`;
	const warm = name.endsWith("warm") ? "auto" : "off";
	const own = ["--warm", warm, "--run-id", run, ...at(etcd.endpoint)];
	const c10d = ["--rdzv-backend", "c10d", "--rdzv-id", run];
	const torchrun = ["-m", "torch.distributed.run", ...c10d];
	const [program, args] =
		name === "torchrun"
			? [PYTHON, [...torchrun, ...at(`127.0.0.1:${port}`)]]
			: [process.execPath, [CLI, ...own]];
	opened += 1;
	const child = spawn(
		program,
		[...args, ...common, ...budget, SCRIPT, folder],
		{
			env: {
				...{ ...process.env, ...AGENT_ENVIRONMENT },
				PYTHON_EXEC: PYTHON,
				ELASTIC_RUN_LOG_DIR: join(folder, `logs-${opened}`),
				ELASTIC_RUN_NODE_ID: `node-${opened}`,
			},
			stdio: ["ignore", "ignore", "pipe"],
		},
	);
	const node = { child, said: "" };
	child.stderr.setEncoding("utf8").on("data", (text) => {
		node.said += text;
	});
	return node;
}

/** The first steps of processes that began after this time. */
function since(folder, from) {
	return marksOf(folder).filter(({ at }) => at > from);
}

function newest(folder, rank) {
	const [mark] = marksOf(folder)
		.filter((one) => one.rank === rank)
		.slice(-1);
	return mark;
}

function marksOf(folder) {
	try {
		const lines = readFileSync(join(folder, "marks"), "utf8").split("\n");
		return lines
			.filter((line) => line !== "")
			.map((line) => line.split(" ").map(Number))
			.map(([, rank, pid, at]) => ({ rank, pid, at }));
	} catch {
		return []; // No worker has made a step yet.
	}
}
