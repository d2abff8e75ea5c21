import { expect, it } from "vitest";
import type { Ready } from "../../../src/warm/helper-messages.js";
import {
	LeftOutModules,
	leftToWorkers,
	wordsOfReady,
} from "../../../src/warm/left-to-workers.js";

const READY: Ready = {
	...{ kind: "ready", modules: 1963, bytes: 7e6, seconds: 5.56, left: [] },
	...{ pid: 5, leaveOut: [], sets: [] },
};
const cause = (module: string, root: string, what: string) => ({
	...{ module, root, what, alone: false },
});

it("says what a helper has imported", () => {
	expect(wordsOfReady(READY, [], 5)).toBe(
		"restarts will be warm: 1,963 modules in 5.6 s, 7 MB (pid 5)",
	);
});

it("says what is left to the workers, why, and what that costs, the dearest first", () => {
	const toImport = {
		modules: ["os", "pyarrow", "pandas", "pandas.io", "x.a", "x.b.c", "wandb"],
		milliseconds: [900, 100, 300, 700, 20, 30, 400],
	};
	const thread = "starts a thread";
	const left = leftToWorkers(
		toImport,
		[
			cause("pyarrow.lib", "pyarrow.lib", thread),
			cause("pyarrow", "pyarrow.lib", thread),
			cause("pandas", "pyarrow.lib", thread),
			cause("x.a", "x.c", "reads RANK"),
			cause("x.b", "x.c", "reads RANK"),
		],
		[[6, "it does not work in a forked process"]],
	);
	expect(wordsOfReady(READY, left, 5).split("workers: ")[1]).toBe(
		"pandas (1.0 s, pyarrow.lib starts a thread), wandb (0.4 s, it does not work in a forked process), pyarrow (0.1 s, it starts a thread), 2 modules of x (0.1 s, it reads RANK)",
	);
	expect(left.flatMap(({ indexes }) => indexes).sort()).toEqual([
		1, 2, 3, 4, 5, 6,
	]);
});

it("calls it half warm where torch itself is left, and no cost what nobody has measured", () => {
	const why = "imported after OMP_NUM_THREADS was changed";
	const modules = ["os", "torch", "torch.nn"];
	const words = (left: Ready["left"]) =>
		wordsOfReady(READY, leftToWorkers({ modules }, [], left), 5);
	expect(words([[1, why]])).toBe(
		`restarts will be half warm: 1,963 modules in 5.6 s, 7 MB (pid 5); left to the workers: torch (${why})`,
	);
	expect(words([[2, why]])).toMatch(/ be warm: .*: torch\.nn \(imported after/);
});

it("knows what no process imports ahead: what has failed also in one that is parked", () => {
	const leftOut = new LeftOutModules();
	const alone = { ...cause("a", "b", "starts a thread"), alone: true };
	const never = { ...cause("a", "c", "starts a process"), alone: false };
	expect(leftOut.add({ leaveOut: [alone], sets: [] })).toBe(true);
	expect(leftOut.never.leaveOut).toEqual([]);
	expect(leftOut.add({ leaveOut: [never], sets: [] })).toBe(true);
	expect(leftOut.never.leaveOut).toEqual([never]);
	expect(leftOut.add({ leaveOut: [alone], sets: [] })).toBe(false);
	expect(leftOut.known.leaveOut).toEqual([never]);
	const set = (alone: boolean) => ({ variable: "V", value: "1", alone });
	leftOut.add({ leaveOut: [], sets: [set(false)] });
	leftOut.add({ leaveOut: [], sets: [set(true)] });
	expect(leftOut.never.sets).toEqual([set(false)]);
});
