// Follows a run under the hard policy by what its agents and workers print.
import { Teller } from "./demo-teller.js";

/** Before each line of a worker: its round, which the launcher fills in. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: the launcher fills it in
export const LOG_PREFIX = "worker of ${round}: ";

export class ClusterStory extends Teller {
	/** What an agent has started: { nodeId, round, firstRank, pids, worldSize, atMs }. */
	started = [];
	/** Why an agent has left a round: { nodeId, round, reason, atMs }. */
	left = [];
	/** Where a round began for rank 0: { round, step }. */
	resumed = [];
	/** Where a node shows the run to a browser, by its id. */
	pages = new Map();
	/** When rank 0 told of a step: { round, step, atMs }. */
	steps = [];
	accuracy = Number.NaN;

	/** What a launcher or a worker of a node has printed. */
	tell(nodeId, line) {
		const entry = line.startsWith("{") ? JSON.parse(line) : undefined;
		if (entry === undefined) this.#workerSays(line);
		else this.#launcherSays(nodeId, entry);
		this.lookAgain();
	}

	/** What the agents of a round have started, by rank. */
	world(round) {
		return this.started
			.filter((one) => one.round === round)
			.sort((a, b) => a.firstRank - b.firstRank);
	}

	/** Resolves when all of so many workers were started in a later round than this one; that round. */
	startsAfter(round, worldSize) {
		return this.comesTrue(() => {
			const newest = Math.max(0, ...this.started.map((one) => one.round));
			const world = this.world(newest);
			const count = world.reduce((sum, { pids }) => sum + pids.length, 0);
			const isIt = newest > round && world[0]?.worldSize === worldSize;
			return isIt && count === worldSize && newest;
		});
	}

	/** The first that has left a round, and why; undefined: nobody has. */
	leftOf(round) {
		return this.left.find((one) => one.round === round);
	}

	/** The round of the newest step. */
	get newestRound() {
		return this.steps.at(-1)?.round;
	}

	/** The first step that was told in a round, if any was. */
	stepIn(round) {
		return this.steps.find((one) => one.round === round);
	}

	/** Resolves with the address of a node's page. */
	pageOf(nodeId) {
		return this.comesTrue(() => this.pages.get(nodeId));
	}

	/** Resolves when the workers are so many steps further. */
	async makesSteps(count) {
		const wanted = (this.steps.at(-1)?.step ?? 0) + count;
		await this.comesTrue(() => this.steps.at(-1)?.step >= wanted);
	}

	#launcherSays(nodeId, { msg, round, firstRank, pids }) {
		const atMs = performance.now();
		const [, worldSize] = /^round \d+: started \d+ of (\d+)/.exec(msg) ?? [];
		const [, reason] = /^RUNNING→STOPPING (.*)$/.exec(msg) ?? [];
		const [, page] = /^this node can be observed at (\S+)$/.exec(msg) ?? [];
		if (page !== undefined) this.pages.set(nodeId, page);
		if (reason !== undefined) this.left.push({ nodeId, round, reason, atMs });
		if (worldSize === undefined) return;
		const world = { worldSize: Number(worldSize), atMs };
		this.started.push({ nodeId, round, firstRank, pids, ...world });
	}

	#workerSays(line) {
		const [, of, text] = /^worker of (\d+): (.*)$/.exec(line) ?? [];
		if (text === undefined) return;
		const round = Number(of);
		const atMs = performance.now();
		const [, resumed] = /^resumed at step (\d+)$/.exec(text) ?? [];
		const [, step] = /^step (\d+): loss/.exec(text) ?? [];
		const [, accuracy] = /^final accuracy ([\d.]+)/.exec(text) ?? [];
		if (resumed !== undefined)
			this.resumed.push({ round, step: Number(resumed) });
		if (step !== undefined)
			this.steps.push({ round, step: Number(step), atMs });
		if (accuracy !== undefined) this.accuracy = Number(accuracy);
	}
}
