import { describe, expect, it } from "vitest";
import { transition } from "../../../src/agent/machine/decide.js";
import type { AgentInput } from "../../../src/agent/machine/inputs.js";
import { intentOf } from "../../../src/agent/machine/record.js";
import {
	type AgentState,
	deadlineOf,
} from "../../../src/agent/machine/state.js";
import { HardRestartPolicyStrategy } from "../../../src/policies/built-in.js";
import {
	contextAt,
	exited,
	gone,
	left,
	PAUSED,
	play,
	RUNNING,
	STOP,
	TIME,
} from "./soft-agent.js";

const HARD = contextAt(1_000, new HardRestartPolicyStrategy());
const at = (now: number) => ({ ...HARD, now });

/** A worker died of a signal itself, not a shell's child. */
const killed = (
	localRank: number,
	signal: NodeJS.Signals,
	exitCode: number,
	signalledByAgent = false,
): AgentInput => ({
	...(exited(localRank, exitCode) as AgentInput & { kind: "worker-exited" }),
	exit: { code: null, signal, signalledByAgent, uptimeMs: 10 },
	description: `killed by ${signal}`,
});

const STOPPED: readonly (readonly [string, AgentInput])[] = [
	["SIGTERM", killed(0, "SIGTERM", 143)],
	["SIGINT", killed(0, "SIGINT", 130)],
	["exit code 143, as a shell reports it", exited(0, 143)],
	["exit code 130, as a shell reports it", exited(0, 130)],
];

describe.each(
	STOPPED,
)("a worker that dies of %s, which the launcher did not send", (_, death) => {
	const waiting = transition(RUNNING, death, HARD);

	it("is no failure yet, and the others go on", () => {
		expect(waiting.effects).toEqual([]);
		expect(intentOf(waiting.state)).toMatchObject({
			state: "running",
			failure: null,
		});
		expect(deadlineOf(waiting.state)).toBe(1_500);
		const early = transition(waiting.state, TIME, at(1_499));
		expect(early.state.phase).toBe("RUNNING");
	});

	it("is explained by a stop within half a second: the node leaves, and nothing is charged", () => {
		const { state } = play([gone(0), STOP], waiting.state, at(1_100));
		expect(state).toMatchObject({
			phase: "STOPPING",
			leaving: { exitCode: 143, isAsked: true },
			failure: null,
			failuresReported: 0,
		});
		const later = transition(state, TIME, at(1_600)).state;
		expect(intentOf(later)).toMatchObject({ state: "leaving", failure: null });
	});

	it("is explained by a change of the round", () => {
		const { state } = play([left(1)], waiting.state, at(1_100));
		expect(intentOf(state)).toMatchObject({ state: "stopping", failure: null });
		const later = transition(state, TIME, at(1_600)).state;
		expect(intentOf(later)?.failure).toBeNull();
	});

	it("is a failure half a second later, as of the time when it happened", () => {
		const { state, effects, reason } = transition(
			waiting.state,
			TIME,
			at(1_500),
		);
		expect(reason).toContain("rank 0 failed: ");
		expect(effects).toEqual([{ kind: "terminate", localRanks: [0, 1] }]);
		expect(intentOf(state)).toMatchObject({
			state: "stopping",
			failure: {
				charge: "run",
				failure: { localRank: 0, timestamp: HARD.wallTime - 500 },
			},
		});
	});

	it("is the first failure where another worker fails meanwhile, and that one does not wait", () => {
		const { state } = transition(waiting.state, exited(1, 1), at(1_100));
		expect(intentOf(state)).toMatchObject({
			state: "stopping",
			failure: { failure: { localRank: 0 } },
		});
	});
});

it("nothing is finished while a death waits, though all other workers have succeeded", () => {
	const { state } = play(
		[exited(0, 143), gone(0), exited(1, 0), gone(1)],
		RUNNING,
		HARD,
	);
	expect(state.phase).toBe("RUNNING");
	const failed = transition(state, TIME, at(1_500)).state;
	expect(intentOf(failed)).toMatchObject({ failure: { charge: "run" } });
});

it("a paused worker's death waits likewise, and its node is not ready meanwhile", () => {
	const waiting = play([exited(0, 143), gone(0)], PAUSED, contextAt());
	expect(intentOf(waiting.state)).toMatchObject({
		state: "stopping",
		failure: null,
	});
	const { state } = play([STOP], waiting.state, contextAt(1_100));
	expect(intentOf(state)).toMatchObject({ state: "leaving", failure: null });
	const late = transition(waiting.state, TIME, contextAt(1_500)).state;
	expect(intentOf(late)).toMatchObject({ failure: { paused: true } });
});

it.each([
	["SIGKILL", killed(0, "SIGKILL", 137)],
	["exit code 1", exited(0, 1)],
	["SIGTERM that this launcher sent", killed(0, "SIGTERM", 143, true)],
] as const)("a death of %s counts at once", (_, death) => {
	const { state }: { state: AgentState } = transition(RUNNING, death, HARD);
	expect(intentOf(state)).toMatchObject({
		state: "stopping",
		failure: { failure: { localRank: 0 } },
	});
});
