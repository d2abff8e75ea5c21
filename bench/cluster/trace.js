import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Etcd3 } from "etcd3";
import { readIfThere } from "../marks.js";

const RUNS = "/elastic-run/";

/**
 * What happens at one time in one run, in words.
 *
 * @typedef {object} Happening
 * @property {number} at milliseconds since 1970: whole ones of agents
 * @property {string} who
 * @property {string} what
 */

/** Follows one run from outside: a client of its own hears what comes into the store, workers leave marks, agents log. */
export class Trace {
	/** @type {Happening[]} */
	#writes = [];
	#client;
	#watcher;

	/** @param {import("../etcd.js").Etcd} etcd */
	static async begin({ endpoint }) {
		const trace = new Trace();
		trace.#client = new Etcd3({ hosts: endpoint });
		trace.#watcher = await trace.#client.watch().prefix(RUNS).create();
		trace.#watcher.on("data", ({ header, events }) => {
			const at = performance.timeOrigin + performance.now();
			const what = events.map(describeWrite).join("; ");
			const who = `store @${header.revision}`;
			if (what !== "") trace.#writes.push({ at, who, what });
		});
		return trace;
	}

	/**
	 * @param {import("./cluster-job.js").ClusterJob} job
	 * @returns {Promise<string[]>} a line each, from the failure of a worker to the last start, with milliseconds since that failure
	 */
	async end(job) {
		await this.#watcher.cancel();
		this.#client.close();
		const marks = ["end", "term", "start"].flatMap((kind) =>
			job.marks(kind).map(({ event, at, rank }) => {
				return { at, who: `rank ${rank}`, what: MARKS[event] };
			}),
		);
		const happenings = [...this.#writes, ...marks, ...logged(job.directory)];
		const from = Math.min(...job.marks("end").map(({ at }) => at));
		const until = Math.max(...job.marks("start").map(({ at }) => at));
		return happenings
			.filter(({ at }) => at >= Math.floor(from) && at <= until)
			.sort((one, other) => one.at - other.at)
			.map(({ at, who, what }) => {
				const ms = (at - from).toFixed(1);
				return `${ms.padStart(7)}  ${who.padEnd(12)} ${what}`;
			});
	}
}

const MARKS = { end: "fails", term: "gets SIGTERM", start: "starts" };

/** A record as key and what changed of it, as short as can be. */
function describeWrite({ type, kv }) {
	const [, ...path] = kv.key.toString().slice(RUNS.length).split("/");
	const key = path.join("/");
	if (type.toLowerCase() === "delete") return `${key} deleted`;
	const { state, claim, synced, deprecated } = JSON.parse(kv.value.toString());
	if (state !== undefined) return `${key} ${state}, claims ${claim}`;
	return synced === undefined
		? key
		: `${key} synced ${synced}, deprecated ${deprecated}`;
}

/** The lines of the agents' logs below a directory. */
function logged(directory) {
	return (
		readdirSync(directory, { recursive: true, encoding: "utf8" })
			// Another name of one that is there.
			.filter((path) => !path.split("/").includes("latest"))
			.filter((path) => path.endsWith("agent.log"))
			.flatMap((path) => {
				const [name] = path.split("/");
				const lines = readIfThere(join(directory, path)).trim().split("\n");
				return lines.map((line) => {
					const { time: at, msg: what } = JSON.parse(line);
					return { at, who: `agent ${name}`, what };
				});
			})
	);
}
