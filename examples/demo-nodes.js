// What a demo of several nodes starts on this machine: an etcd, and one agent
// for each node that is played here. Nothing of it outlives the demo.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { findEtcd, installEtcd } from "../scripts/find-etcd.js";

const COMMAND = fileURLToPath(
	new URL("../dist/bin/elastic-run.js", import.meta.url),
);
/** How long an agent may take to leave before it is killed. */
const PATIENCE_MS = 10_000;
/** How often it is looked whether processes are gone that are not the demo's own. */
const LOOK_EVERY_MS = 5;
/** What the kernel says of a process that has ended, with all of its threads. */
const ZOMBIE = /\) Z (?:\S+ ){16}1 /;

/** All processes of a demo. */
export class Nodes {
	#folder;
	#hears;
	#etcd;
	#agents = new Map();
	#asked = new Set();
	#isTold = new Set();
	#isOver = false;
	#sayEnded;
	/** Where the etcd is, once it was started: "127.0.0.1:PORT". */
	endpoint;
	/** Rejects when an agent ends that was not told to, and not expected to. */
	anEnd = new Promise((_, reject) => {
		this.#sayEnded = reject;
	});

	/** `hears(nodeId, line)` gets what launchers and workers print. */
	constructor(folder, hears) {
		this.#folder = folder;
		this.#hears = hears;
	}

	/** Throws, with what to do about it, where there is no etcd and none is to be had. */
	async startEtcd() {
		const program = findEtcd() ?? installEtcd();
		this.endpoint = `127.0.0.1:${await freePort()}`;
		const here = `http://${this.endpoint}`;
		const there = `http://127.0.0.1:${await freePort()}`;
		const args = [
			...["--data-dir", join(this.#folder, "etcd")],
			...["--listen-client-urls", here, "--advertise-client-urls", here],
			...["--listen-peer-urls", there],
			...["--initial-advertise-peer-urls", there],
			...["--initial-cluster", `default=${there}`],
		];
		// Ctrl-C ends it last: out of reach of what a terminal sends to its foreground.
		this.#etcd = this.#spawn(program, args, {
			env: { ETCD_UNSUPPORTED_ARCH: process.arch },
			stdio: "ignore",
			detached: true,
		});
		await once(this.#etcd, "spawn");
	}

	/** Starts the agent of a node with these flags and job; it tries until etcd answers. */
	start(nodeId, args) {
		const flags = [
			...["--node-id", nodeId, "--log-format", "json"],
			...["--log-dir", join(this.#folder, "logs")],
		];
		const agent = this.#spawn(process.execPath, [COMMAND, ...flags, ...args], {
			stdio: ["ignore", "pipe", "pipe"],
		});
		this.#agents.set(nodeId, agent);
		let last;
		for (const input of [agent.stdout, agent.stderr]) {
			createInterface({ input }).on("line", (line) => {
				last = line;
				this.#hears(nodeId, line);
			});
		}
		agent.once("close", (exitCode) => {
			if (this.#isTold.has(agent)) return;
			const words = `${nodeId} has ended by itself: ${exitCode}; it said last: ${last}`;
			this.#sayEnded(new Error(words));
		});
	}

	/** kill -9 of a node's agent; its workers die with it. */
	kill(nodeId) {
		const agent = this.#agents.get(nodeId);
		this.#isTold.add(agent);
		agent.kill("SIGKILL");
	}

	/** Lets one agent end by itself, and waits for it. Its exit code. */
	async ends(nodeId) {
		const agent = this.#agents.get(nodeId);
		this.#isTold.add(agent);
		await isGone(agent);
		this.#agents.delete(nodeId);
		return agent.exitCode;
	}

	/** What a command of elastic-run says. */
	async ask(args) {
		const command = this.#spawn(process.execPath, [COMMAND, ...args], {
			stdio: ["ignore", "pipe", "inherit"],
		});
		this.#asked.add(command);
		return text(command.stdout);
	}

	/** Lets all agents that run end by themselves, and waits for it. Their exit codes. */
	async finish() {
		const agents = [...this.#agents.values()];
		for (const agent of agents) this.#isTold.add(agent);
		await Promise.all(agents.map((agent) => isGone(agent)));
		return agents.map(({ exitCode }) => exitCode);
	}

	/** Ends everything. The agents' exit codes. */
	async stop() {
		this.#isOver = true;
		const agents = [...this.#agents.values()];
		for (const agent of agents) this.#isTold.add(agent);
		const exitCodes = await Promise.all(agents.map(leave));
		for (const child of [...this.#asked, this.#etcd])
			await end(child, "SIGKILL");
		return exitCodes;
	}

	#spawn(program, args, options) {
		if (this.#isOver) throw new Error("the demo is over");
		return spawn(program, args, options);
	}
}

/** Waits until all of these processes are gone. */
export async function areGone(pids) {
	while (pids.some(isAlive)) await sleep(LOOK_EVERY_MS);
}

function isAlive(pid) {
	try {
		process.kill(pid, 0);
		return !ZOMBIE.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
	} catch (error) {
		// Only Linux has such a file.
		return error.code === "ENOENT" && process.platform !== "linux";
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
	if (child?.pid === undefined) return;
	const ended = isGone(child);
	child.kill(signal);
	await ended;
}

async function isGone(child) {
	if (child.exitCode === null && child.signalCode === null)
		await once(child, "exit");
}

async function freePort() {
	const server = createServer().listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = server.address();
	server.close();
	await once(server, "close");
	return port;
}
