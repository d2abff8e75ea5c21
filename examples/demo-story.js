// Tells the demo's runs as they happen, kills whom it is told to, and takes the time.

/** Follows one run by the lines that the launcher and rank 0 print. */
export class Story {
	#startedAt = performance.now();
	#kills;
	#print;
	#pids = [];
	/** The kill that the run has not recovered from yet. */
	#open;
	results = { accuracy: Number.NaN, recoveries: [] };

	constructor(kills, print) {
		this.#kills = [...kills];
		this.#print = print;
	}

	tell(line) {
		const entry = line.startsWith("{") ? JSON.parse(line) : undefined;
		if (entry === undefined) this.#workerSays(line);
		else this.#launcherSays(entry);
	}

	#launcherSays({ msg, pids, round }) {
		this.#note("launcher", msg);
		if (pids === undefined) return;
		this.#pids = pids;
		this.#note("", `pids of ranks 0 to ${pids.length - 1}: ${pids.join(" ")}`);
		if (this.#open === undefined) return;
		this.#open.startedMs = performance.now() - this.#open.at;
		const { rank, startedMs } = this.#open;
		this.#note(
			"demo",
			`round ${round} runs ${startedMs.toFixed(0)} ms after the death of rank ${rank}`,
		);
	}

	#workerSays(prefixed) {
		const [, rank, line] = /^rank (\d+): (.*)$/.exec(prefixed) ?? [];
		if (rank !== "0") return;
		const step = Number(/^step (\d+)/.exec(line)?.[1] ?? Number.NaN);
		const accuracy = /^final accuracy ([\d.]+)/.exec(line)?.[1];
		if (accuracy !== undefined) this.results.accuracy = Number(accuracy);
		if (!line.startsWith("checkpoint")) this.#note("worker", line);
		if (Number.isNaN(step)) return;
		this.#closeKill();
		const [next] = this.#kills;
		if (next !== undefined && step >= next.atStep) this.#kill(next);
	}

	#kill({ rank }) {
		this.#kills.shift();
		this.#open = { rank, at: performance.now() };
		this.#note("demo", `kill -9 ${this.#pids[rank]}, which is rank ${rank}`);
		process.kill(this.#pids[rank], "SIGKILL");
	}

	/** A step was made after the round that followed the kill was started. */
	#closeKill() {
		if (this.#open?.startedMs === undefined) return;
		const trainedMs = performance.now() - this.#open.at;
		this.results.recoveries.push({ ...this.#open, trainedMs });
		this.#open = undefined;
	}

	#note(who, text) {
		const seconds = ((performance.now() - this.#startedAt) / 1000).toFixed(2);
		this.#print(`${seconds.padStart(7)} s  ${who.padEnd(8)}  ${text}`);
	}
}
