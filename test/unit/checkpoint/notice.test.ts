import { expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.js";
import { systemDisk } from "../../../src/checkpoint/disk.js";
import { CheckpointStore } from "../../../src/checkpoint/store.js";
import { temporaryDirectory } from "../channel/samples.js";

it("shouldSave says yes once after a notice, and a save says that the worker may be ended", () => {
	let notice: number | undefined;
	const acknowledged: number[] = [];
	const announced: string[] = [];
	const checkpoints = new CheckpointStore({
		directory: temporaryDirectory(),
		...{ token: { instance: 1, round: 1 }, tokenIsShared: true, keep: 2 },
		...{ maxSteps: Number.POSITIVE_INFINITY, unique: "a" },
		// So long without a failure that nothing else is a reason to save.
		meanTimeBetweenInterruptionsMs: 1e15,
		...{ clock: systemClock, disk: systemDisk },
		warn: (message) => expect.fail(message),
		onStep: () => undefined,
		notices: {
			newest: () => notice,
			acknowledge: (event) => acknowledged.push(event),
			announce: (...said) => announced.push(said.join(" ")),
		},
	});
	const save = (step: number) =>
		checkpoints.save({
			...{ step, epoch: 0, generator: null },
			...{ dataPosition: null, parameters: {} },
		});
	expect(checkpoints.shouldSave(1)).toBe(true);
	save(1);
	// The launcher takes it for no hang, and the ledger counts it.
	expect(announced).toEqual(["checkpoint 1200", "checkpoint 0"]);
	expect(checkpoints.shouldSave(2)).toBe(false);
	notice = 4;
	expect([2, 3].map((step) => checkpoints.shouldSave(step))).toEqual([
		true,
		false,
	]);
	expect(acknowledged).toEqual([]);
	save(3);
	expect(acknowledged).toEqual([4]);
	expect(checkpoints.shouldSave(4)).toBe(false);
	// Withdrawn, and given again.
	notice = undefined;
	expect(checkpoints.shouldSave(5)).toBe(false);
	notice = 6;
	expect(checkpoints.shouldSave(6)).toBe(true);
});
