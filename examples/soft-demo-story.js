// Tells the demo of soft restarts as it happens, and keeps what its end depends on.
import { Teller } from "./demo-teller.js";

/** Of the steps that rank 0 tells, only these are worth a line. */
const TELL_EVERY_STEPS = 100;

/** Follows a run by what its agents and workers print. */
export class SoftStory extends Teller {
	/** What each process said when a round began for it: { nodeId, pid, round, rank, worldSize, step }. */
	begun = [];
	/** What each process said when a round was over for it: { pid, round, step }. */
	over = [];
	/** When rank 0 told of a step: { step, atMs }. */
	steps = [];
	/** The nodes that have said that they wait as a spare. */
	spares = new Set();

	/** What a launcher or a worker of a node has printed. */
	tell(nodeId, line) {
		const entry = line.startsWith("{") ? JSON.parse(line) : undefined;
		if (entry === undefined) this.#workerSays(nodeId, line);
		else if (entry.msg.includes("→")) this.note(nodeId, entry.msg);
		if (entry?.msg.includes("is a spare")) this.spares.add(nodeId);
		this.lookAgain();
	}

	/**
	 * Resolves when so many workers have begun in one round after this one, as its only ones, and a step has been made
	 * since; the round.
	 */
	trainsWith(worldSize, afterRound = 0) {
		return this.comesTrue(() => {
			const { round } = this.begun.at(-1) ?? {};
			if (round <= afterRound) return;
			const world = this.begunIn(round);
			if (world.length !== worldSize || world[0].worldSize !== worldSize)
				return;
			return this.nextStep(round) && round;
		});
	}

	/** Resolves when the workers are so many steps further. */
	async makesSteps(count) {
		const wanted = (this.steps.at(-1)?.step ?? 0) + count;
		await this.comesTrue(() => this.steps.at(-1).step >= wanted);
	}

	/** Who began in a round, by rank. */
	begunIn(round) {
		return this.begun
			.filter((one) => one.round === round)
			.sort((a, b) => a.rank - b.rank);
	}

	/** The first step that was made in a round. */
	nextStep(round) {
		const from = this.begunIn(round)[0]?.step;
		return this.steps.find(({ step }) => step > from);
	}

	/** How far a process stood behind itself when a round began for it. */
	stepsLost(pid) {
		const losses = this.over
			.filter((end) => end.pid === pid)
			.map((end) => {
				const next = this.begun.find(
					(one) => one.pid === pid && one.round > end.round,
				);
				return next === undefined ? 0 : Math.max(0, end.step - next.step);
			});
		return losses.reduce((sum, count) => sum + count, 0);
	}

	#workerSays(nodeId, line) {
		const [, pid, text] =
			/^worker: pid (\d+) (?!checkpoint)(.*)$/.exec(line) ?? [];
		if (text === undefined) return;
		const begins = /^round (\d+): rank (\d+) of (\d+) at step (\d+)$/.exec(
			text,
		);
		const isOver = /^round (\d+) is over for rank \d+ at step (\d+): /.exec(
			text,
		);
		const step = /^step (\d+): loss/.exec(text)?.[1];
		if (begins !== null) {
			const [round, rank, worldSize, step] = begins.slice(1).map(Number);
			const one = { nodeId, pid: Number(pid), round, rank, worldSize, step };
			this.begun.push(one);
		}
		if (isOver !== null) {
			const [round, step] = isOver.slice(1).map(Number);
			this.over.push({ pid: Number(pid), round, step });
		}
		if (step !== undefined) {
			this.steps.push({ step: Number(step), atMs: performance.now() });
			if (Number(step) % TELL_EVERY_STEPS !== 0) return;
		}
		this.note(nodeId, `pid ${pid} ${text}`);
	}
}
