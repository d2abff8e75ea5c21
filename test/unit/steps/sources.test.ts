import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { HeldFile } from "../../../src/logs/held-file.js";
import { HookSteps, OutputSteps } from "../../../src/steps/sources.js";

const directory = mkdtempSync(join(tmpdir(), "elastic-run-steps-"));
const path = join(directory, "stdout.log");
const PATTERN = /\bstep[ =:]+(\d+)/;

afterEach(() => rmSync(path, { force: true }));

function reader(text = "", pattern = PATTERN): OutputSteps {
	writeFileSync(path, text);
	return new OutputSteps(pattern, new HeldFile(path), 0);
}

describe("steps in the output", () => {
	it.each([
		["step 12 loss 0.5\n", 12],
		["STEP=3\nstep=4\n", 4],
		["progress\rstep 8\rstep 9\r", 9],
		["footstep 5\n", undefined],
	])("A4 are found in %j", (text, step) => {
		expect(reader(text).read()?.last).toBe(step);
	});

	it("A4 are found once their line is complete", () => {
		const steps = reader("step 1");
		expect(steps.read()).toBeUndefined();
		appendFileSync(path, "23\n");
		expect(steps.read()).toEqual({ first: 123, last: 123 });
		expect(steps.read()).toBeUndefined();
	});

	it("A4 are found at the end of a flood", () => {
		const steps = reader("x".repeat(500_000));
		appendFileSync(path, "\nstep 77\n");
		expect(steps.read()?.last).toBe(77);
	});

	it("A4 are none in a file that is not there", () => {
		rmSync(path, { force: true });
		const file = new HeldFile(path);
		expect(new OutputSteps(PATTERN, file, 0).read()).toBeUndefined();
	});
});

describe("steps of the hook", () => {
	const file = join(directory, "steps");

	it("A4 are what its file says at this moment", () => {
		const steps = new HookSteps(file);
		expect(steps.read()).toBeUndefined();
		writeFileSync(file, "17".padStart(20));
		expect(steps.read()).toMatchObject({ steps: 17, timed: 0, ownSeconds: 0 });
		writeFileSync(file, "18".padStart(20), { flag: "r+" });
		expect(steps.read()).toMatchObject({ steps: 18 });
		const numbers = ["19", "18", "5500000000"].map((one) => one.padStart(20));
		writeFileSync(file, numbers.join(""), { flag: "r+" });
		expect(steps.read()).toMatchObject({
			steps: 19,
			timed: 18,
			ownSeconds: 5.5,
		});
		writeFileSync(file, "garbage", { flag: "r+" });
		expect(steps.read()).toBeUndefined();
	});

	it("A4 are those of the worker's next process, which makes a new file", () => {
		const steps = new HookSteps(file);
		writeFileSync(file, "18".padStart(20));
		expect(steps.read()).toMatchObject({ steps: 18 });
		rmSync(file);
		writeFileSync(file, "1".padStart(20));
		expect(steps.read()).toMatchObject({ steps: 1 });
	});
});
