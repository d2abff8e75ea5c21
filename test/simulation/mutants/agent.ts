import type { Mutant } from "./mutant.js";

const TRANSITION_TESTS = "test/unit/agent/transition.test.ts";

/** Guards of what an agent does with its workers. */
export const AGENT_MUTANTS: readonly Mutant[] = [
	{
		name: "fence with the usual grace",
		file: "src/agent/machine/running.ts",
		guard: "const killAt = Math.min(fenceAt, notice.killAt);",
		without: "const killAt = Math.max(fenceAt, notice.killAt);",
		caughtBy: { checker: "fencing" },
	},
	{
		name: "leave a stop that has begun its usual grace",
		file: "src/agent/machine/stopping.ts",
		guard: "isEnding(worker) || isUnexplained(worker)\n",
		without: "isUnexplained(worker)\n",
		caughtBy: { checker: "fencing" },
	},
	{
		name: "start on a seat of another plan",
		file: "src/agent/machine/take-seat.ts",
		guard: "		seat.planId === round.planId &&\n",
		without: "",
		caughtBy: { test: TRANSITION_TESTS, named: "plan" },
	},
	{
		name: "keep a claim that is to be left",
		file: "src/agent/machine/take-seat.ts",
		guard: "if (round.deprecated >= state.claim) {",
		without: "if (round.deprecated < 0) {",
		caughtBy: { checker: "barrier" },
	},
	{
		name: "claim before the workers are gone",
		file: "src/agent/machine/go-on.ts",
		guard: "if (remaining(state.workers).length > 0) return ignore(state);",
		without: "if (remaining(state.workers).length > 99) return ignore(state);",
		caughtBy: { checker: "barrier" },
	},
	{
		name: "stay in a round that is to be left",
		file: "src/agent/machine/running.ts",
		guard: "if (deprecated < state.round) return ignore(state);",
		without: "if (deprecated <= state.round) return ignore(state);",
		caughtBy: { checker: "leaving" },
	},
	{
		name: "stay finished when the round is left",
		file: "src/agent/machine/finished.ts",
		guard: "const isLeft = deprecated >= state.round",
		without: "const isLeft = deprecated > state.round + 99",
		caughtBy: { checker: "convergence" },
	},
	{
		name: "go before it is known that one has finished",
		file: "src/agent/machine/finished.ts",
		guard: "isVain || view?.finishedPlan === planId",
		without: "isVain || planId !== null",
		caughtBy: {
			test: TRANSITION_TESTS,
			named: "goes as soon as the store knows",
		},
	},
	{
		name: "never kill what ignores SIGTERM",
		file: "src/agent/machine/kill.ts",
		guard: 'effects: [{ kind: "kill", localRanks }],',
		without: "effects: [],",
		caughtBy: { checker: "orphans" },
	},
	{
		name: "never kill what a worker left behind",
		file: "src/agent/machine/running.ts",
		guard: "isFailure ? null : killAt",
		without: "null",
		caughtBy: { checker: "remnants" },
	},
	{
		name: "give two failures one name",
		file: "src/agent/machine/note-failure.ts",
		guard: "const sequence = state.failuresReported + 1;",
		without: "const sequence = 1;",
		caughtBy: { checker: "budget" },
	},
	{
		name: "leave with another code where a node is refused",
		file: "src/agent/machine/take-seat.ts",
		guard: "leftWith(replaceNode, seat.refused, root)",
		without: "leftWith(1, seat.refused, root)",
		caughtBy: { checker: "outcomes" },
	},
	{
		name: "wait for ever for what SIGKILL does not end",
		file: "src/agent/machine/kill-due.ts",
		guard: "if (stuck.length > 0) return giveUp(state, stuck, context);",
		without: "",
		caughtBy: { checker: "stuck" },
	},
	{
		name: "give up as stuck what ended while the agent was frozen",
		file: "src/agent/machine/kill-due.ts",
		guard: "now - deadline > LATE_MS",
		without: "now - deadline > 1e9",
		caughtBy: { test: TRANSITION_TESTS, named: "SIGKILL does not end" },
	},
];
