import { describe, expect, it } from "vitest";
import { transition } from "../../../src/agent/machine/decide.js";
import type { AgentInput } from "../../../src/agent/machine/inputs.js";
import { intentOf } from "../../../src/agent/machine/record.js";
import { SoftRestartPolicyStrategy } from "../../../src/policies/built-in.js";
import type { RestartDecision } from "../../../src/policies/strategy.js";
import {
	contextAt,
	exited,
	gone,
	PAUSED,
	play,
	RUNNING,
} from "./soft-agent.js";

class Ignores extends SoftRestartPolicyStrategy {
	override onWorkerFailure(): RestartDecision {
		return { workers: "ignore", charge: "nothing", reason: "one is enough" };
	}
}

const context = contextAt(1_000, new Ignores());

const STARTED: AgentInput = { kind: "worker-started", localRank: 0, pid: 9 };
const HUNG: AgentInput = {
	kind: "worker-hung",
	localRank: 0,
	pid: 9,
	round: 1,
	stillMs: 60_000,
	description: "hung for 60 s",
	failsRun: false,
};

describe("T12 a policy that ignores a failure", () => {
	const without = transition(RUNNING, exited(0, 3), context);

	it("lets the others go on, says so, and reports no failure", () => {
		const message = expect.stringContaining("exit code 3; the others go on");
		expect(without.effects).toContainEqual({ kind: "warn", message });
		expect(without.state).toMatchObject({ phase: "RUNNING", failure: null });
		expect(intentOf(without.state)).toMatchObject({
			state: "running",
			failure: null,
		});
	});

	it("ends what the worker has left behind", () => {
		const { effects } = transition(RUNNING, exited(0, 3, true), context);
		expect(effects).toContainEqual({ kind: "terminate", localRanks: [0] });
	});

	it("has a node finish when the others have succeeded", () => {
		const inputs = [gone(0), exited(1, 0), gone(1)];
		const { state, reason } = play(inputs, without.state, context);
		expect(state.phase).toBe("FINISHED");
		expect(reason).toContain("1 of 2 workers of this node succeeded");
	});

	it("waits for what is left behind before it finishes", () => {
		const inputs = [exited(0, 3, true), exited(1, 0), gone(1)];
		const { state } = play(inputs, RUNNING, context);
		expect(state.phase).toBe("RUNNING");
		expect(transition(state, gone(0), context).state.phase).toBe("FINISHED");
	});

	it.each([
		["the last that could succeed", [gone(0), exited(1, 4)], without.state],
		["one that has not ended by itself", [STARTED, HUNG], RUNNING],
		["a paused one", [exited(0, 3)], PAUSED],
	] as const)("replaces %s, and the run pays", (_, inputs, from) => {
		const { state } = play(inputs, from, context);
		expect(state).toMatchObject({
			phase: "STOPPING",
			failure: { charge: "run" },
		});
	});
});
