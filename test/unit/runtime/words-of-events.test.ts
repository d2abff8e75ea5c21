import { expect, expectTypeOf, it } from "vitest";
import * as whole from "../../../src/index.js";
import * as runtime from "../../../src/runtime/runtime.js";
import { WorkerState, WorldChangeEvent } from "../../../src/runtime/runtime.js";

it("states and changes are values whose types have the same names", () => {
	const state: WorkerState = WorkerState.PAUSED;
	const change: WorldChangeEvent = "SCALE_UP";
	expect([state, WorkerState.HEALTHY]).toEqual(["PAUSED", "HEALTHY"]);
	expect(change).toBe(WorldChangeEvent.SCALE_UP);
	expectTypeOf<WorkerState>().toEqualTypeOf<"HEALTHY" | "PAUSED">();
	expectTypeOf<WorldChangeEvent>().toEqualTypeOf<"SCALE_UP" | "SCALE_DOWN">();
});

it("elastic-run has all that elastic-run/runtime has", () => {
	expect(whole).toMatchObject(runtime);
});
