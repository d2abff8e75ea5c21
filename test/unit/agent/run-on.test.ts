import { describe, expect, it } from "vitest";
import { transition } from "../../../src/agent/machine/decide.js";
import type { TransitionContext } from "../../../src/agent/machine/inputs.js";
import { intentOf } from "../../../src/agent/machine/record.js";
import {
	type AgentState,
	INITIAL_STATE,
	type Running,
} from "../../../src/agent/machine/state.js";
import { HardRestartPolicyStrategy } from "../../../src/policies/built-in.js";
import type { RoundRecord } from "../../../src/rendezvous/records/records.js";
import { roundRecord, seatRecord, WORLD } from "../../helpers/run-view.js";
import { workerSlot as slot } from "../../helpers/worker-slots.js";
import { contextAt, exited } from "./soft-agent.js";

const CONTEXT: TransitionContext = {
	...contextAt(1_000, new HardRestartPolicyStrategy()),
	role: "trainer",
};
const seatIn = (round: number) =>
	seatRecord("a", { role: "trainer", round, planId: `plan-${round}` });
const ROUND = roundRecord({
	...{ synced: 1, planId: "plan-1", seats: 2, world: WORLD },
});
const causeOf = (...roles: string[]): RoundRecord["cause"] => ({
	...{ kind: "failure", changeEvent: "SCALE_DOWN", root: null, roles },
	reason: "role reader: rank 4 on r: exit code 1",
});
const seen = (change: Partial<RoundRecord>, seat = 1) => ({
	kind: "round-seen" as const,
	view: { round: { ...ROUND, ...change }, seat: seatIn(seat) },
});
const LEFT = seen({ deprecated: 1, cause: causeOf("reader") });
const BEGUN = seen(
	{ synced: 2, deprecated: 1, planId: "plan-2", cause: causeOf("reader") },
	2,
);
const COMMON = {
	...INITIAL_STATE,
	view: { round: ROUND, seat: seatIn(1) },
	...{ instance: 1, failure: null, failuresReported: 0, round: 1 },
};
const RUNNING: Running = {
	...{ ...COMMON, phase: "RUNNING", seat: seatIn(1) },
	workers: [slot(0), slot(1, { status: "gone" })],
};
const stateAfter = (...inputs: (typeof LEFT)[]): AgentState =>
	inputs.reduce<AgentState>(
		(state, input) => transition(state, input, CONTEXT).state,
		RUNNING,
	);

describe("an agent while another role restarts", () => {
	it("is ready at once, and its workers run on", () => {
		const { state, effects } = transition(RUNNING, LEFT, CONTEXT);
		expect(effects).toEqual([]);
		expect(state).toMatchObject({ phase: "RUNNING", round: 1 });
		expect(intentOf(state)).toMatchObject({
			...{ state: "ready", claim: 2, runsOn: true },
		});
	});

	it("goes on in the next round: living workers are told, and none is started", () => {
		const { state, effects } = transition(stateAfter(LEFT), BEGUN, CONTEXT);
		expect(state).toMatchObject({ phase: "RUNNING", round: 2 });
		expect(intentOf(state)).toMatchObject({ state: "running", claim: 2 });
		expect(effects).toMatchObject([
			{ kind: "start-workers", kept: new Map([[0, "SCALE_DOWN"]]), ended: [1] },
		]);
	});

	it.each([
		["its own role restarts as well", causeOf("reader", "trainer")],
		["the whole run restarts", { ...causeOf(), roles: undefined }],
	])("ends its workers where %s", (_, cause) => {
		const { state, effects } = transition(
			stateAfter(LEFT),
			seen({ deprecated: 1, cause }),
			CONTEXT,
		);
		expect(state.phase).toBe("STOPPING");
		expect(effects).toEqual([{ kind: "terminate", localRanks: [0] }]);
	});

	it("ends its workers where the next round has no seat for it", () => {
		const { state } = transition(
			stateAfter(LEFT),
			seen({ synced: 2, deprecated: 1, planId: "plan-2" }, 1),
			CONTEXT,
		);
		expect(state.phase).toBe("STOPPING");
	});

	it("has finished in the next round what it finished before that began", () => {
		const gone = { kind: "worker-gone", localRank: 0 } as const;
		const ended = [exited(0, 0), gone].reduce<AgentState>(
			(state, input) => transition(state, input, CONTEXT).state,
			stateAfter(LEFT),
		);
		expect(ended).toMatchObject({ phase: "FINISHED", planId: "plan-1" });
		const { state } = transition(ended, BEGUN, CONTEXT);
		expect(state).toMatchObject({ phase: "FINISHED", planId: "plan-2" });
		expect(
			transition(
				ended,
				{ ...LEFT, view: { ...LEFT.view, seat: null } as never },
				CONTEXT,
			).state.phase,
		).toBe("FINISHED");
	});
});
