import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Etcd } from "../etcd.js";
import { bundle } from "./bundle.js";

const AGENTS = fileURLToPath(new URL("agents.ts", import.meta.url));
const PROCESSES = 2;
/** A process of so many agents makes much that is soon forgotten. */
const FLAGS = ["--max-semi-space-size=64"];
const LONGEST_WAIT_MS = 300_000;

/** The last words of agents that die are so long. */
const LAST_WORDS = 2_000;

/**
 * What a restart cost, of all agents together.
 *
 * @typedef {object} Costs
 * @property {number} looks reads of the store
 * @property {number} writes transactions
 * @property {number} events that watches told of
 * @property {number} received bytes, as etcd counts them
 * @property {number} sent
 * @property {number} agentsMs processor time
 * @property {number} etcdMs
 *
 * @typedef {import("./agents.js").Said} Said
 */

/** A run of many agents in two processes, with an etcd of its own on the same machine. */
export class ScaleRun {
	#size;
	#etcd;
	/** @type {import("node:child_process").ChildProcess[]} */
	#children = [];
	#round = 1;
	/** @type {Said[]} */
	#said = [];
	#wake = () => {};
	/** @type {Error | undefined} */
	#problem;

	#areLinked;

	/** @param {number} size how many agents @param {boolean} areLinked whether they have links */
	constructor(size, areLinked = false) {
		this.#size = size;
		this.#areLinked = areLinked;
	}

	/** Resolves when all agents run the first round. */
	async open(scratch) {
		process.prependListener("exit", this.#abandon);
		const program = await bundle(scratch, AGENTS);
		this.#etcd = await Etcd.start(scratch);
		const share = Math.ceil(this.#size / PROCESSES);
		for (let first = 0; first < this.#size; first += share) {
			this.#start(program, first, Math.min(share, this.#size - first));
		}
		await this.#all("settled");
	}

	/**
	 * A worker of any agent fails. Resolves when all agents have started theirs
	 * again and said so: with the milliseconds from the failure until the last agent
	 * knew that its round is left, and to the last start.
	 * @returns {Promise<{ toldMs: number, ms: number, costs: Costs }>}
	 */
	async restart() {
		const before = await this.#costs();
		const share = Math.ceil(this.#size / PROCESSES);
		const agent = Math.floor(Math.random() * this.#size);
		this.#said = [];
		this.#children[Math.floor(agent / share)].send({
			kind: "fail",
			index: agent % share,
		});
		const [failed] = await this.#hear(1, ({ kind }) => kind === "failed");
		const told = await this.#all("told");
		this.#round += 1;
		const started = await this.#all("started");
		await this.#all("settled");
		const after = await this.#costs();
		/** @type {any} */
		const costs = Object.fromEntries(
			Object.keys(after).map((name) => [name, after[name] - before[name]]),
		);
		const until = (all) => Math.max(...all.map(({ at }) => at)) - failed.at;
		return { toldMs: until(told), ms: until(started), costs };
	}

	/** How many watches etcd has. @returns {Promise<number>} */
	watchers() {
		return this.#etcd.watchers();
	}

	async close() {
		process.off("exit", this.#abandon);
		await Promise.all(this.#children.map(end));
		await this.#etcd?.stop();
	}

	#start(program, first, count) {
		const args = [this.#etcd.endpoint, first, count, this.#size].map(String);
		if (this.#areLinked) args.push("links");
		const child = fork(program, args, {
			execArgv: FLAGS,
			stdio: ["ignore", "ignore", "pipe", "ipc"],
		});
		let words = "";
		child.stderr?.setEncoding("utf8").on("data", (text) => {
			words = (words + text).slice(-LAST_WORDS);
		});
		child.on("message", (/** @type {Said} */ message) => {
			this.#said.push(message);
			this.#wake();
		});
		child.once("close", (code, signal) =>
			this.#fail(`a process of agents ended with ${code ?? signal}: ${words}`),
		);
		// It was asked when it had just ended.
		child.on("error", ({ message }) => this.#fail(message));
		this.#children.push(child);
	}

	#fail(words) {
		this.#problem ??= new Error(words.trim());
		this.#wake();
	}

	/** The bench is interrupted. */
	#abandon = () => {
		for (const child of this.#children) child.kill("SIGKILL");
	};

	#all(kind) {
		return this.#hear(
			this.#size,
			(said) => said.kind === kind && said.round === this.#round,
		);
	}

	/**
	 * Resolves with what was said of this sort, once that many have said it.
	 * @returns {Promise<any[]>}
	 */
	async #hear(many, isMeant) {
		const sum = (all) => all.reduce((so, { count = 1 }) => so + count, 0);
		const until = performance.now() + LONGEST_WAIT_MS;
		for (;;) {
			const heard = this.#said.filter(isMeant);
			if (sum(heard) >= many) return heard;
			if (this.#problem) throw this.#problem;
			const leftMs = until - performance.now();
			if (leftMs <= 0)
				throw new Error(`nothing in ${LONGEST_WAIT_MS / 1_000} s`);
			await new Promise((resolve) => {
				const timer = setTimeout(resolve, leftMs);
				this.#wake = () => {
					clearTimeout(timer);
					resolve(undefined);
				};
			});
		}
	}

	/** @returns {Promise<Costs>} since the start */
	async #costs() {
		this.#said = [];
		for (const child of this.#children) child.send({ kind: "costs" });
		const told = await this.#hear(
			this.#children.length,
			({ kind }) => kind === "costs",
		);
		const sum = (name) => told.reduce((total, each) => total + each[name], 0);
		return {
			looks: sum("looks"),
			writes: sum("writes"),
			events: sum("events"),
			...(await this.#etcd.traffic()),
			agentsMs: sum("agentsMs"),
			etcdMs: this.#etcd.processorMs,
		};
	}
}

async function end(child) {
	if (child.exitCode !== null || child.signalCode !== null) return;
	const ended = once(child, "exit");
	child.kill("SIGKILL");
	await ended;
}
