import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { channelPaths, hookPaths } from "../../../src/channel/index.js";
import { WorkerReaders } from "../../../src/steps/worker-readers.js";
import { noteStep } from "../../../src/steps/worker-steps.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

interface Report {
	readonly step: number;
	readonly loss?: number | null;
}

/** Readers of workers that report these steps, one list for each worker. */
function readersOf(
	reports: readonly (readonly (number | Report)[])[],
	gone: unknown[] = [],
) {
	const processes = reports.map((_, localRank) => ({
		...{ localRank, rank: localRank, pid: 100 + localRank },
		...{ directory: `/nosuch/${localRank}`, logs: undefined },
	}));
	const readers = new WorkerReaders({
		pattern: /step (\d+)/g,
		processes: () => processes,
		clock: new VirtualClock(),
		onStep: () => {},
		onPhase: () => {},
		onLossGone: ({ rank }, loss) => void gone.push({ rank, ...loss }),
	});
	for (const [localRank, steps] of reports.entries()) {
		for (const report of steps) {
			const process = processes[localRank];
			if (process === undefined) continue;
			const reply = {
				kind: "PROGRESS",
				sequence: 1,
				timestamp: 0,
				...(typeof report === "number" ? { step: report } : report),
			} as const;
			readers.heard(process, reply, 0);
		}
	}
	return readers;
}

it.each([
	["of workers that count none", [[], []], undefined],
	["of the worker that is ahead", [[1, 2], [5]], 5],
	["of a worker that counts each epoch from 0", [[1, 9, 0], [5]], null],
])("the furthest step %s", (_, reports, furthest) => {
	expect(readersOf(reports).furthest).toBe(furthest);
});

it.each([
	["none", [[]], undefined],
	["its last", [[3, 4]], 4],
	["none where it has gone back", [[3, 4, 0]], undefined],
])("the step of one worker: %s", (_, reports, step) => {
	expect(readersOf(reports).stepOf(0)).toBe(step);
});

it("a loss that is no number any more is told once for each process, and not shown as it was", () => {
	const gone: unknown[] = [];
	const fine = [1, 2].map((step) => ({ step, loss: 0.5 }));
	const bad = [3, 4].map((step) => ({ step, loss: null }));
	const again = [{ step: 5, loss: 0.25 }, ...bad];
	const readers = readersOf([[...fine, ...bad, ...again], fine, bad], gone);
	expect(gone).toEqual([{ rank: 0, name: "loss", last: 0.5 }]);
	const shown = readers.progress().map(({ metrics }) => metrics);
	expect(shown).toEqual([{}, { loss: 0.5 }, {}]);
});

it("a better source does not make a worker start over", () => {
	const output = noteStep(undefined, { source: "output", step: 90 }, 0);
	const hook = noteStep(output, { source: "hook", step: 3 }, 1);
	expect(hook.startsOver).toBe(false);
});

it("the step of one worker is looked for in its own files alone", () => {
	const root = mkdtempSync(join(tmpdir(), "steps-"));
	onTestFinished(() => rmSync(root, { recursive: true }));
	const processes = [0, 1].map((localRank) => ({
		...{ localRank, rank: localRank, pid: 100 + localRank },
		...{ directory: `${root}/${localRank}`, logs: undefined },
	}));
	for (const { directory } of processes) {
		const { steps } = hookPaths(channelPaths(directory).hook);
		mkdirSync(dirname(steps), { recursive: true });
		writeFileSync(steps, "7".padStart(20).padEnd(80));
	}
	const seen: string[] = [];
	const readers = new WorkerReaders({
		pattern: /step (\d+)/g,
		processes: () => processes,
		clock: new VirtualClock(),
		onStep: (directory) => seen.push(directory),
		onPhase: () => {},
		onLossGone: () => {},
	});
	expect(readers.stepOf(1)).toBe(7);
	expect(seen).toEqual([`${root}/1`]);
});
