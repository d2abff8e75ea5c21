import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { lastOf, readIfThere, readMarks } from "../marks.js";
import { AgentProcess } from "./agent-process.js";
import { AGENT_COMMANDS } from "./launchers.js";

const LONGEST_WAIT_MS = 90_000;
/** Times are those of the marks: to look more often would only take the processor from what is measured. */
const POLL_MS = 20;
/** How long a run rests before something is done to it: what began with it is over by then. */
const REST_MS = 700;
const REPEAT_MS = 1_000;

let jobs = 0;

/**
 * What the agents of a run have in common.
 *
 * @typedef {object} RunSettings
 * @property {string} [nodes] `--nnodes`: 2 unless given
 * @property {Readonly<Record<string, number>>} [conf] of `--rdzv-conf`, in seconds
 * @property {readonly string[]} [flags] of elastic-run
 * @property {(name: string, isSmoke: boolean) => number} [workersOf] how many workers an agent has: 4 unless given
 * @property {(paths: { worker: string, marks: string, directory: string }) => readonly string[]} [program]
 *   of the workers, which appends its marks to a file: worker.c unless given
 */

/** Those of worker.c that do as they are told. */
const obedient = ({ worker, marks }) => [worker, marks, "obey"];

/** A run of several agents, named a, b, …. Times are milliseconds since 1970. */
export class ClusterJob {
	#launcher;
	#settings;
	#directory;
	#agents = new Map();
	#isSmoke;

	/**
	 * @param {{ name: string, cli?: string }} launcher `cli`: the command of another build
	 * @param {RunSettings & { endpoint: string }} settings where the agents meet
	 * @param {{ worker: string, scratch: string, isSmoke: boolean }} place
	 */
	constructor(launcher, { program = obedient, ...settings }, place) {
		jobs += 1;
		this.#launcher = launcher;
		this.#isSmoke = place.isSmoke;
		this.#directory = mkdtempSync(join(place.scratch, "cluster-"));
		this.#settings = {
			nodes: "2",
			conf: {},
			flags: [],
			workersOf: () => 4,
			...settings,
			runId: `bench-${jobs}`,
			program: program({
				worker: place.worker,
				marks: this.#path("marks"),
				directory: this.#directory,
			}),
		};
		process.prependListener("exit", this.#abandon);
	}

	/** Starts agents; returns when that was. */
	start(...names) {
		const at = Date.now();
		for (const name of names) this.#start(name);
		return at;
	}

	/** Starts agents and waits until all of them run in one world, and have come to rest. */
	async form(...names) {
		this.start(...names);
		const sizes = names.map((name) => this.#workersOf(name));
		await this.world(sizes.reduce((sum, size) => sum + size, 0));
		if (!this.#isSmoke) await sleep(REST_MS);
	}

	/**
	 * Waits for all workers of a world of this size to be started after `since`.
	 * @returns {Promise<number>} when the last of them was
	 */
	async world(size, since) {
		return lastOf(await this.marked("start", size, { since, worldSize: size }));
	}

	/**
	 * Waits for so many marks of workers of a world of this size, made after `since`.
	 * @returns {Promise<import("../marks.js").Mark[]>} all that there are then
	 */
	async marked(event, count, { since = 0, worldSize }) {
		const what = `${count} × "${event}" in a world of ${worldSize}`;
		return this.until(what, () => {
			const found = this.marks(event).filter(
				(mark) => mark.at > since && mark.worldSize === worldSize,
			);
			return found.length >= count ? found : undefined;
		});
	}

	/** Makes the worker of the highest rank fail; returns when it did. */
	async failWorker() {
		const [{ pid, worldSize }] = this.#newest.slice(-1);
		const since = Date.now();
		process.kill(pid, "SIGUSR1");
		return lastOf(await this.marked("end", 1, { since, worldSize }));
	}

	/** Kills the worker of a rank in the newest world, counted from the end where it is negative; returns when that was. */
	killWorker(rank) {
		const [{ pid }] = this.#newest.slice(rank);
		const at = Date.now();
		process.kill(pid, "SIGKILL");
		return at;
	}

	/** Signals an agent; returns when that was. */
	signal(name, signal) {
		const at = Date.now();
		this.#agents.get(name).signal(signal);
		return at;
	}

	/** What its agents write is below it. */
	get directory() {
		return this.#directory;
	}

	pidOf(name) {
		return this.#agents.get(name).pid;
	}

	/** Ends all workers well, and waits for the agents' good end. */
	async end() {
		try {
			let saidAt = Number.NEGATIVE_INFINITY;
			await this.until("the agents' end", () => {
				// Once more to those of a round that a busy machine has begun meanwhile.
				if (performance.now() > saidAt + REPEAT_MS) {
					saidAt = performance.now();
					this.#signalWorkers("SIGUSR2");
				}
				const agents = [...this.#agents.values()];
				return agents.every(({ hasEnded }) => hasEnded) ? true : undefined;
			});
			for (const [name, { exitCode, isExpected }] of this.#agents) {
				if (exitCode === 0 || isExpected) continue;
				throw new Error(`agent ${name} ended with ${exitCode}`);
			}
		} catch (error) {
			throw this.#failure(error);
		} finally {
			this.close();
		}
	}

	/** Ends whatever is left of it, and forgets it. */
	close() {
		process.off("exit", this.#abandon);
		this.#abandon();
		rmSync(this.#directory, { recursive: true, force: true });
	}

	/** @returns {import("../marks.js").Mark[]} */
	marks(kind) {
		return readMarks(this.#path("marks")).filter(({ event }) => event === kind);
	}

	/** The marks of the newest world that was started whole, by rank. */
	get #newest() {
		const starts = this.marks("start");
		const [{ worldSize }] = starts.slice(-1);
		return starts
			.slice(-worldSize)
			.sort((left, right) => left.rank - right.rank);
	}

	#start(name) {
		const directory = this.#path(name);
		mkdirSync(directory, { recursive: true });
		const command = AGENT_COMMANDS[this.#launcher.name]({
			...this.#settings,
			cli: this.#launcher.cli,
			nodeId: `node-${name}`,
			workers: this.#workersOf(name),
			directory,
		});
		const messages = this.#path(`${name}.messages`);
		this.#agents.set(name, new AgentProcess(command, messages));
	}

	#workersOf(name) {
		return this.#settings.workersOf(name, this.#isSmoke);
	}

	/** Resolves with what is found, once something is. */
	async until(what, find) {
		const until = performance.now() + LONGEST_WAIT_MS;
		for (;;) {
			const found = find();
			if (found !== undefined) return found;
			const lost = [...this.#agents].find(
				([, { hasEnded, isExpected }]) => hasEnded && !isExpected,
			);
			if (what !== "the agents' end" && lost !== undefined) {
				throw this.#failure(`agent ${lost[0]} ended`);
			}
			if (performance.now() > until) {
				throw this.#failure(`no ${what} in ${LONGEST_WAIT_MS / 1_000} s`);
			}
			await sleep(POLL_MS);
		}
	}

	#failure(problem) {
		const words = [...this.#agents.values()].map(({ lastWords }) => lastWords);
		return new Error(
			`${this.#launcher.name}: ${problem}\n${words.join("\n--\n")}`,
		);
	}

	/** The bench is interrupted. */
	#abandon = () => {
		for (const agent of this.#agents.values()) {
			if (!agent.hasEnded) agent.signal("SIGKILL");
		}
		this.#signalWorkers("SIGKILL");
	};

	/** Those that are still there, and no others that have their pids now. */
	#signalWorkers(signal) {
		for (const { pid } of this.marks("start")) {
			if (!readIfThere(`/proc/${pid}/cmdline`).includes(this.#directory))
				continue;
			try {
				process.kill(pid, signal);
			} catch {
				// It has ended meanwhile.
			}
		}
	}

	#path(name) {
		return join(this.#directory, name);
	}
}
