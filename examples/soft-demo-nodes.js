// What the demo of soft restarts starts on this machine: an etcd, and one agent
// for each node that is played here. Nothing of it outlives the demo.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { findEtcd, installEtcd } from "../scripts/find-etcd.js";

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const COMMAND = pathOf("../dist/bin/elastic-run.js");
const TRAINER = pathOf("soft-train.js");
const MOST_NODES = 3;
const WORKERS_OF_A_NODE = 2;
/** Seconds after which a node that was killed counts as gone. */
const LEASE_TTL = 3;
/** How long an agent may take to leave before it is killed. */
const PATIENCE_MS = 10_000;
/** The demo ends the run when it has told its story. */
const ENDLESS = 1_000_000;

/** All processes of the demo. */
export class Nodes {
	#folder;
	#hears;
	#endpoint;
	#etcd;
	#agents = new Map();
	#isTold = new Set();
	#isOver = false;
	#sayEnded;
	/** Rejects when an agent ends that was not told to. */
	anEnd = new Promise((_, reject) => {
		this.#sayEnded = reject;
	});

	/** `hears(nodeId, line)` gets what launchers and workers print. */
	constructor(folder, hears) {
		this.#folder = folder;
		this.#hears = hears;
	}

	async startEtcd() {
		const program = findEtcd() ?? installEtcd();
		this.#endpoint = `127.0.0.1:${await freePort()}`;
		const here = `http://${this.#endpoint}`;
		const there = `http://127.0.0.1:${await freePort()}`;
		const args = [
			...["--data-dir", join(this.#folder, "etcd")],
			...["--listen-client-urls", here, "--advertise-client-urls", here],
			...["--listen-peer-urls", there],
			...["--initial-advertise-peer-urls", there],
			...["--initial-cluster", `default=${there}`],
		];
		// Ctrl-C ends it last: out of reach of what a terminal sends to its foreground.
		this.#etcd = spawn(program, args, {
			env: { ETCD_UNSUPPORTED_ARCH: process.arch },
			stdio: "ignore",
			detached: true,
		});
		await once(this.#etcd, "spawn");
	}

	/** Starts the agent of a node; it tries until etcd answers. */
	start(nodeId) {
		if (this.#isOver) throw new Error("the demo is over");
		const flags = [
			...["--run-id", "soft-demo", "--node-id", nodeId],
			...["--restart-policy", "soft", "--nnodes", `1:${MOST_NODES}`],
			...["--nproc-per-node", String(WORKERS_OF_A_NODE)],
			...["--rdzv-endpoint", this.#endpoint],
			...["--rdzv-conf", `lease_ttl=${LEASE_TTL}`],
			...["--log-dir", join(this.#folder, "logs"), "--log-format", "json"],
			...["--log-prefix", "worker: "],
		];
		const job = [
			...[TRAINER, "--steps", String(ENDLESS)],
			...["--checkpoint-dir", join(this.#folder, "checkpoints")],
			...["--checkpoint-every", String(ENDLESS)],
		];
		const agent = spawn(process.execPath, [COMMAND, ...flags, ...job], {
			stdio: ["ignore", "pipe", "pipe"],
		});
		this.#agents.set(nodeId, agent);
		for (const input of [agent.stdout, agent.stderr]) {
			const lines = createInterface({ input });
			lines.on("line", (line) => this.#hears(nodeId, line));
		}
		agent.once("exit", (exitCode) => {
			if (this.#isTold.has(agent)) return;
			this.#sayEnded(new Error(`${nodeId} has ended by itself: ${exitCode}`));
		});
	}

	/** kill -9 of a node's agent; its workers die with it. */
	kill(nodeId) {
		const agent = this.#agents.get(nodeId);
		this.#isTold.add(agent);
		agent.kill("SIGKILL");
	}

	/** Ends everything. The agents' exit codes. */
	async stop() {
		this.#isOver = true;
		const agents = [...this.#agents.values()];
		for (const agent of agents) this.#isTold.add(agent);
		const exitCodes = await Promise.all(agents.map(leave));
		await end(this.#etcd, "SIGKILL");
		return exitCodes;
	}
}

/** Asks an agent to leave, which ends its workers first. */
async function leave(agent) {
	const insist = setTimeout(() => agent.kill("SIGKILL"), PATIENCE_MS);
	await end(agent, "SIGTERM");
	clearTimeout(insist);
	return agent.exitCode;
}

async function end(child, signal) {
	if (child === undefined || child.pid === undefined) return;
	if (child.exitCode !== null || child.signalCode !== null) return;
	const ended = once(child, "exit");
	child.kill(signal);
	await ended;
}

async function freePort() {
	const server = createServer().listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = server.address();
	server.close();
	await once(server, "close");
	return port;
}
