import type { Mutant } from "./mutant.js";

const TRANSITION_TESTS = "test/unit/agent/transition.test.ts";

/** Guards of what an agent does with its workers. */
export const AGENT_MUTANTS: readonly Mutant[] = [
	{
		name: "fence with the usual grace",
		file: "src/agent/phases/running.ts",
		guard: "Math.min(input.fenceAt, context.now + context.shutdownTimeoutMs),",
		without: "context.now + context.shutdownTimeoutMs,",
		caughtBy: { checker: "fencing" },
	},
	{
		name: "leave a stop that has begun its usual grace",
		file: "src/agent/phases/stopping.ts",
		guard: "state.killAt && Math.min(state.killAt, input.fenceAt)",
		without: "state.killAt",
		caughtBy: { checker: "fencing" },
	},
	{
		name: "start on a seat of another plan",
		file: "src/agent/phases/joining.ts",
		guard: "		seat.planId === round.planId &&\n",
		without: "",
		caughtBy: { test: TRANSITION_TESTS, named: "plan" },
	},
	{
		name: "keep a claim that is to be left",
		file: "src/agent/phases/joining.ts",
		guard: "if (round.deprecated >= state.claim) {",
		without: "if (round.deprecated < 0) {",
		caughtBy: { checker: "barrier" },
	},
	{
		name: "claim before the workers are gone",
		file: "src/agent/phases/stopping.ts",
		guard: "if (remaining(state.workers).length > 0) return ignore(state);",
		without: "if (remaining(state.workers).length > 99) return ignore(state);",
		caughtBy: { checker: "barrier" },
	},
	{
		name: "stay in a round that is to be left",
		file: "src/agent/phases/running.ts",
		guard: "if (deprecated < state.round) return ignore(state);",
		without: "if (deprecated <= state.round) return ignore(state);",
		caughtBy: { checker: "leaving" },
	},
	{
		name: "stay finished when the round is left",
		file: "src/agent/phases/finished.ts",
		guard: "return deprecated >= state.round",
		without: "return deprecated > state.round + 99",
		caughtBy: { checker: "convergence" },
	},
	{
		name: "never kill what ignores SIGTERM",
		file: "src/agent/phases/stopping.ts",
		guard: 'effects: [{ kind: "kill", localRanks }],',
		without: "effects: [],",
		caughtBy: { checker: "orphans" },
	},
	{
		name: "never kill what a worker left behind",
		file: "src/agent/phases/leftovers.ts",
		guard: 'effects: [{ kind: "kill", localRanks: due.localRanks }],',
		without: "effects: [],",
		caughtBy: { checker: "remnants" },
	},
	{
		name: "give two failures one name",
		file: "src/agent/phases/failure.ts",
		guard: "const sequence = state.failuresReported + 1;",
		without: "const sequence = 1;",
		caughtBy: { checker: "budget" },
	},
	{
		name: "leave with another code where a node is refused",
		file: "src/agent/phases/joining.ts",
		guard: "leftWith(EXIT_CODES.replaceNode, seat.refused)",
		without: "leftWith(EXIT_CODES.failed, seat.refused)",
		caughtBy: { checker: "outcomes" },
	},
	{
		name: "wait for ever for what SIGKILL does not end",
		file: "src/agent/phases/stopping.ts",
		guard: "if (state.goneBy !== null && now >= state.goneBy) {",
		without: "if (state.goneBy !== null && now >= state.goneBy + 1e9) {",
		caughtBy: { checker: "stuck" },
	},
	{
		name: "wait for ever for what a worker left behind and SIGKILL does not end",
		file: "src/agent/phases/leftovers.ts",
		guard: "({ goneBy = Number.POSITIVE_INFINITY }) => now >= goneBy,",
		without: "({ goneBy = Number.POSITIVE_INFINITY }) => now >= goneBy + 1e9,",
		caughtBy: { checker: "stuck" },
	},
	{
		name: "give up as stuck what ended while the agent was frozen",
		file: "src/agent/phases/stopping.ts",
		guard: "return now - deadline > LATE_MS;",
		without: "return now - deadline > 1e9;",
		caughtBy: { test: TRANSITION_TESTS, named: "SIGKILL does not end" },
	},
];
