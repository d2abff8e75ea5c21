import { spawnSync } from "node:child_process";
import { expect, type TestContext } from "vitest";
import { poll } from "./etcd-gateway.js";
import type { Launch } from "./launch.js";

/** A Python that may have torch. */
export const PYTHON = process.env.PYTHON || "python3";

/** Importing torch takes seconds on an idle machine, and much longer on a busy one. */
const BOUND_MS = 240_000;

/** Ends a test that wants torch where there is none. */
export function needTorch(context: TestContext): void {
	needModules(context, "torch");
}

/**
 * Ends a test that wants these modules where python3 lacks them.
 *
 * @throws Error where the user named a Python that lacks them: then nothing may be skipped in silence.
 */
export function needModules(
	context: TestContext,
	...names: readonly string[]
): void {
	const missing = names.filter((name) => !canImport(name));
	if (missing.length === 0) return;
	const problem = `${PYTHON} cannot import ${missing.join(", ")}`;
	if (process.env.PYTHON) throw new Error(problem);
	context.skip(`${problem} (set PYTHON to one that can)`);
}

/** Looks for it without running it, which takes seconds. */
function canImport(name: string): boolean {
	const find = `import importlib.util, sys; sys.exit(importlib.util.find_spec("${name}") is None)`;
	return spawnSync(PYTHON, ["-c", find], { stdio: "ignore" }).status === 0;
}

/** What a process of examples/torch_soft.py says when a round begins or is over for it. */
interface RoundLine {
	readonly pid: number;
	readonly round: number;
	readonly rank: number;
	readonly step: number;
}

/** What rank 0 says of a step. */
interface LossLine {
	readonly pid: number;
	readonly step: number;
	readonly loss: number;
}

/** Whether the step was also the last of a killed rank 0: it may have ended it just before the survivors could. */
const isMadeAgain = (one: LossLine, before: LossLine | undefined): boolean =>
	before?.step === one.step && before.pid !== one.pid;

/** What the processes of some agents have said so far. */
export class TorchTrainers {
	constructor(private readonly launches: () => readonly Launch[]) {}

	private get output(): string {
		return this.launches()
			.map(({ output }) => output.stdout)
			.join("");
	}

	/** Who began in a round, by rank. */
	begun(round?: number): readonly RoundLine[] {
		const line = /pid (\d+) round (\d+): rank (\d+) of \d+ at step (\d+)$/gm;
		return linesOf(this.output, line)
			.filter((one) => round === undefined || one.round === round)
			.sort((one, other) => one.round - other.round || one.rank - other.rank);
	}

	over(): readonly RoundLine[] {
		const line =
			/pid (\d+) round (\d+) is over for rank (\d+) at step (\d+): /gm;
		return linesOf(this.output, line);
	}

	/** The steps whose loss was told, in the order in which that was. */
	losses(): readonly LossLine[] {
		const line = /pid (\d+) step (\d+): loss (\d+\.\d+)$/gm;
		return [...this.output.matchAll(line)].map(([, pid, step, loss]) => ({
			pid: Number(pid),
			step: Number(step),
			loss: Number(loss),
		}));
	}

	accuracy(): number {
		return Number(/final accuracy ([\d.]+) after/.exec(this.output)?.[1]);
	}

	/** Waits for the first round after this one that begins with so many processes, and then until these have made some steps. */
	async trainsAfter(
		round: number,
		worldSize: number,
	): Promise<readonly RoundLine[]> {
		return poll(
			`${worldSize} processes to train in a round after ${round}`,
			BOUND_MS,
			async () => {
				const newest = Math.max(...this.begun().map((one) => one.round));
				const world = this.begun(newest);
				const isIt = newest > round && world.length === worldSize;
				const from = world[0]?.step ?? 0;
				const hasGoneOn = this.losses().some(({ step }) => step > from + 20);
				return isIt && hasGoneOn ? world : undefined;
			},
		);
	}

	/**
	 * Checks that each round begins with all of its processes at one step, and that it is the
	 * furthest at which those of them stood that had been there before: none is lost.
	 */
	expectNoStepLost(): void {
		for (const round of new Set(this.begun().map((one) => one.round))) {
			const world = this.begun(round);
			const pids = world.map(({ pid }) => pid);
			const stood = this.over()
				.filter((one) => one.round < round && pids.includes(one.pid))
				.map(({ step }) => step);
			const step = Math.max(0, ...stood);
			expect(world).toEqual(world.map((one) => ({ ...one, step })));
		}
		const steps = this.losses()
			.filter((one, at, all) => !isMadeAgain(one, all[at - 1]))
			.map(({ step }) => step);
		expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b));
	}

	/** Checks that what was learned is not lost: the loss stays below a share of what it was at first. */
	expectLossContinues(): void {
		const [first, ...later] = this.losses();
		const worst = Math.max(...later.slice(10).map(({ loss }) => loss));
		expect(worst).toBeLessThan(first?.loss ?? 0);
	}
}

function linesOf(output: string, line: RegExp): readonly RoundLine[] {
	return [...output.matchAll(line)].map(([, ...numbers]) => {
		const [pid = 0, round = 0, rank = 0, step = 0] = numbers.map(Number);
		return { pid, round, rank, step };
	});
}
