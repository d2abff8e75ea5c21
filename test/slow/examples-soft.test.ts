import { join } from "node:path";
import { expect, it, onTestFailed, onTestFinished } from "vitest";
import { example, requireBuild } from "../fixtures/checkpoint-examples.js";
import { startProcess } from "../fixtures/checkpoint-process.js";
import { endProcess, temporaryFolder, waitFor } from "../helpers/processes.js";

const STEPS = 300;

/** What each worker process says when a round begins for it. */
interface Beginning {
	readonly pid: number;
	readonly round: number;
	readonly rank: number;
	readonly step: number;
}

function beginnings(output: string): readonly Beginning[] {
	const line = /pid (\d+) round (\d+): rank (\d+) of \d+ at step (\d+)$/gm;
	return [...output.matchAll(line)].map(([, ...numbers]) => {
		const [pid = 0, round = 0, rank = 0, step = 0] = numbers.map(Number);
		return { pid, round, rank, step };
	});
}

function accuracyIn(output: string): number {
	return Number(
		/final accuracy (0\.\d{4}) after 300 steps$/m.exec(output)?.[1],
	);
}

it("T11 T17 soft-train.js: survivors keep their process and their step, the new one gets the state, the result is the same", async (context) => {
	const launcher = requireBuild(context, "bin/elastic-run.js");
	const { path, remove } = temporaryFolder();
	onTestFinished(remove);
	const launch = (script: string, name: string, ...flags: string[]) =>
		startProcess(
			[
				...[launcher, ...flags, "--log-dir", join(path, `${name}-logs`)],
				...[example(script), "--steps", String(STEPS)],
				...["--checkpoint-dir", join(path, name)],
			],
			process.env,
		);
	const run = launch(
		"soft-train.js",
		"soft",
		...["--restart-policy", "soft-replace", "--nproc-per-node", "4"],
	);
	onTestFailed(() => console.log(run.stdout(), run.stderr()));
	const roundBegins = (round: number) =>
		waitFor(`round ${round} of all four`, () => {
			const begun = beginnings(run.stdout()).filter(
				(one) => one.round === round,
			);
			return begun.length === 4 && begun;
		});
	const first = await roundBegins(1);
	await waitFor("step 40", () => run.stdout().includes("step 40: "));
	const victim = first.find(({ rank }) => rank === 2)?.pid;
	endProcess(victim);
	const second = await roundBegins(2);

	const pids = (all: readonly Beginning[]) =>
		new Set(all.map(({ pid }) => pid));
	const survivors = [...pids(first)].filter((pid) => pid !== victim);
	expect([...pids(second)]).toEqual(expect.arrayContaining(survivors));
	expect(pids(second)).not.toContain(victim);
	// All of them, the new one too, stand where the survivors stood.
	const [step = 0, ...others] = new Set(second.map((one) => one.step));
	expect(others).toEqual([]);
	expect(step).toBeGreaterThanOrEqual(40);

	expect(await run.ended, run.stderr()).toBe(0);
	const alone = launch("train.js", "hard");
	expect(await alone.ended, alone.stderr()).toBe(0);
	expect(accuracyIn(run.stdout())).toBeCloseTo(accuracyIn(alone.stdout()), 2);
}, 120_000);
