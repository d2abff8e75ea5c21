import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startAgent } from "../agents.js";
import { CLI } from "../launchers.js";
import { readIfThere } from "../marks.js";

const TRAINER = fileURLToPath(new URL("chaos-trainer.js", import.meta.url));
const NODES = ["node-a", "node-b", "node-c"];
/** Longer than the shortest possible: the machine is busy, and what is lost by itself is no chaos of ours. */
const LEASE_S = 6;
const STARTS_MS = 300_000;
let runs = 0;

/** What is done to a run, in turn. */
const FAULTS = ["kill-worker", "freeze", "kill-worker", "kill-agent"];
/** The time from one to the next. */
const EACH_MS = { least: 14_000, more: 6_000 };
/** Its lease lapses meanwhile. */
const FROZEN_MS = 9_000;
const GONE_MS = 1_500;

/**
 * A run of three nodes with one worker each, to which something happens every 14 to 20 s.
 * @returns {Promise<{ told: object, spent: { kind: string, ms: number, at: number, node: string }[], faults: { fault: string, node: string, at: number }[] }>}
 *   what goodput says, what the trainers wrote down, and what was done
 */
export async function playChaos({ policy, minutes, scratch, endpoint }) {
	const folder = mkdtempSync(join(scratch, "chaos-"));
	const state = join(folder, "state");
	mkdirSync(state);
	const runId = `bench-chaos-${process.pid}-${++runs}`;
	const meeting = ["--rdzv-endpoint", endpoint];
	const start = (nodeId) =>
		startAgent([
			...["--nnodes", "1:3", "--nproc-per-node", "1", "--node-id", nodeId],
			...["--run-id", runId, ...meeting, "--restart-policy", policy],
			...["--rdzv-conf", `lease_ttl=${LEASE_S},last_call_timeout=1`],
			...["--log-dir", join(folder, nodeId), "--max-restarts", "10000"],
			...["--restart-delay", "0", "--max-identical-failures", "0"],
			...["--shutdown-timeout", "2", TRAINER, state, String(minutes)],
		]);
	const agents = new Map(NODES.map((nodeId) => [nodeId, start(nodeId)]));
	const run = { agents, start, state };
	const faults = await disturb(run).catch((error) => {
		for (const { child } of agents.values()) child.kill("SIGKILL");
		throw error;
	});
	const ends = await Promise.all(
		[...agents.values()].map(({ ended }) => ended),
	);
	const failed = ends.find(({ code }) => code !== 0);
	if (failed) {
		throw new Error(
			`an agent ended with ${failed.code}: ${failed.stderr.slice(-2_000)}`,
		);
	}
	const ask = [CLI, "goodput", runId, ...meeting, "--output", "json"];
	const { stdout, stderr } = spawnSync(process.execPath, ask, {
		encoding: "utf8",
	});
	if (stdout === "") throw new Error(stderr);
	const lines = readIfThere(join(state, "spent")).trim().split("\n");
	return {
		told: JSON.parse(stdout),
		spent: lines.map((line) => JSON.parse(line)),
		faults,
	};
}

/** Until the trainers come to their end. */
async function disturb(run) {
	const faults = [];
	const { state } = run;
	const isOver = () => readIfThere(join(state, "last")) !== "";
	const until = performance.now() + STARTS_MS;
	while (readIfThere(join(state, "saved")) === "" && !isOver()) {
		if (performance.now() > until) throw new Error("the run makes no steps");
		await sleep(100);
	}
	for (let count = 0; !isOver(); count += 1) {
		const nextAt =
			performance.now() + EACH_MS.least + Math.random() * EACH_MS.more;
		const fault = FAULTS[count % FAULTS.length];
		const node = NODES[Math.floor(Math.random() * NODES.length)];
		faults.push({ fault, node, at: Date.now() });
		await ACTS[fault](run, node);
		while (!isOver() && performance.now() < nextAt) await sleep(100);
	}
	return faults;
}

const ACTS = {
	async "kill-worker"({ state }, node) {
		const pid = Number(readIfThere(join(state, `pid-${node}`)));
		const isIt = readIfThere(`/proc/${pid}/cmdline`).includes(state);
		if (isIt) process.kill(pid, "SIGKILL");
	},
	async freeze({ agents }, node) {
		const { child } = agents.get(node);
		child.kill("SIGSTOP");
		await sleep(FROZEN_MS);
		child.kill("SIGCONT");
	},
	async "kill-agent"({ agents, start }, node) {
		const { child, ended } = agents.get(node);
		child.kill("SIGKILL");
		await ended;
		await sleep(GONE_MS);
		agents.set(node, start(node));
	},
};
