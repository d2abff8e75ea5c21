import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { HeldFile } from "../../../src/logs/held-file.js";
import { WorkerReader } from "../../../src/progress/worker-reader.js";

const directory = mkdtempSync(join(tmpdir(), "elastic-run-reader-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe("the reader of a worker", () => {
	it("A4 takes the first number in the output for no step made: any text may have one", () => {
		const path = join(directory, "stdout.log");
		writeFileSync(path, "resuming from step 5000\n");
		const reader = new WorkerReader({
			pattern: /step[ =:]+(\d+)/,
			hookFile: join(directory, "steps"),
			outputs: [{ file: new HeldFile(path), startBytes: 0 }],
		});
		reader.look(1_000);
		expect(reader.steps).toMatchObject({ step: 5_000, source: "output" });
		expect(reader.movement).toBeUndefined();
		appendFileSync(path, "step 5000\nstep 5001\n");
		reader.look(2_000);
		expect(reader.movement).toMatchObject({ at: 2_000, moves: 1 });
	});
});
