import type { Mutant } from "./mutant.js";

const SOFT_TESTS = "test/unit/agent/soft-transition.test.ts";

/** Guards of what keeps workers over a change of the world. */
export const SOFT_MUTANTS: readonly Mutant[] = [
	{
		name: "pause who is paused already",
		file: "src/agent/phases/pause.ts",
		guard: '		if (worker.status === "paused") return worker;\n',
		without: "",
		caughtBy: { checker: "survivors" },
	},
	{
		name: "pause one that never said HELLO",
		file: "src/agent/phases/pause.ts",
		guard: 'worker.status === "running" && worker.greeted',
		without: 'worker.status === "running"',
		caughtBy: { test: SOFT_TESTS, named: "never said HELLO" },
	},
	{
		name: "pause one that has ended",
		file: "src/agent/phases/pause.ts",
		guard: 'worker.status === "running" && worker.greeted',
		without: "worker.greeted",
		caughtBy: { checker: "outcomes" },
	},
	{
		name: "keep the worker that failed",
		file: "src/agent/phases/pause.ts",
		guard:
			"		if (worker.localRank === failed) return toEnd(worker, killAt);\n",
		without: "",
		caughtBy: { checker: "convergence" },
	},
	{
		name: "pause without saying so",
		file: "src/agent/phases/pause.ts",
		guard: "fresh.length === 0",
		without: "fresh.length >= 0",
		caughtBy: { checker: "barrier" },
	},
	{
		name: "start all anew after a pause",
		file: "src/agent/phases/take-seat.ts",
		guard: 'former?.status === "paused"',
		without: "former === null",
		caughtBy: { checker: "survivors" },
	},
	{
		name: "forget why a worker was paused",
		file: "src/agent/phases/take-seat.ts",
		guard: '[localRank, change ?? "SCALE_DOWN"] as const',
		without: '[localRank, "SCALE_DOWN"] as const',
		caughtBy: { checker: "alternation" },
	},
	{
		name: "leave the run with paused workers",
		file: "src/agent/phases/take-seat.ts",
		guard:
			"	if (paused(state.workers).length === 0) return close(state, ending);",
		without: "	return close(state, ending);",
		caughtBy: { checker: "orphans" },
	},
	{
		name: "end with paused workers",
		file: "src/agent/phases/go-on.ts",
		guard: "if (isOver && paused(state.workers).length > 0) {",
		without: "if (isOver && paused(state.workers).length > 99) {",
		caughtBy: { checker: "orphans" },
	},
	{
		name: "forget a PAUSE once its round is over",
		file: "src/agent/phases/worker-slots.ts",
		guard:
			'return { ...worker, status: "running", events: worker.events + 1 };',
		without:
			'return { ...worker, status: "running", events: worker.events + 1, pauses: [] };',
		caughtBy: { checker: "acknowledgements" },
	},
	{
		name: "wait for acknowledgements for ever",
		file: "src/agent/worker-slot.ts",
		guard: "at(ackByOf(worker));",
		without: "",
		caughtBy: { checker: "acknowledgements" },
	},
	{
		name: "take any acknowledgement for that of a PAUSE",
		file: "src/agent/phases/worker-slots.ts",
		guard: "pauses.filter(({ event }) => event > reply.event)",
		without: "pauses.filter(({ event }) => event < reply.event - 99)",
		caughtBy: { test: SOFT_TESTS, named: "earlier event" },
	},
	{
		name: "charge one that never acknowledged",
		file: "src/agent/phases/fail.ts",
		guard: "return hasPaused\n",
		without: "return hasPaused || true\n",
		caughtBy: { test: SOFT_TESTS, named: "started anew" },
	},
	{
		name: "overlook that a paused worker died",
		file: "src/agent/phases/paused.ts",
		guard: "if (!isPaused(state, localRank)) return undefined;",
		without: "return undefined;",
		caughtBy: { checker: "outcomes" },
	},
	{
		name: "pay for a paused worker that finished",
		file: "src/agent/phases/paused.ts",
		guard: "if (exitCode !== 0) return fail(",
		without: "if (exitCode !== -1) return fail(",
		caughtBy: { checker: "budget" },
	},
	{
		name: "let one go on that was not told to pause",
		file: "src/agent/phases/paused.ts",
		guard: "		return isPaused(state, input.localRank)\n",
		without: "		return isPaused(state, -1)\n",
		caughtBy: { checker: "barrier" },
	},
	{
		name: "give one that cannot be told the usual grace",
		file: "src/agent/phases/paused.ts",
		guard: "slot?.pauses.at(-1)?.killAt ?? notice.killAt",
		without: "notice.killAt",
		caughtBy: { test: SOFT_TESTS, named: "killed by the fence" },
	},
	{
		name: "work on when the lease may have ended",
		file: "src/agent/phases/running.ts",
		guard: "return fence(state, input, context);",
		without: "return ignore(state);",
		caughtBy: { checker: "fencing" },
	},
	{
		name: "fence the deaf with the usual grace",
		file: "src/agent/phases/running.ts",
		guard: "? pause(fenced, { ...notice, killAt }, context)",
		without: "? pause(fenced, notice, context)",
		caughtBy: { checker: "fencing" },
	},
	{
		name: "take a wait behind a PAUSE for a wish",
		file: "src/agent/phases/running.ts",
		guard:
			"	if (round !== null && round < state.round) return ignore(state);\n",
		without: "",
		caughtBy: { test: SOFT_TESTS, named: "round that it is in" },
	},
	{
		name: "take a wait that is over for a wish",
		file: "src/agent/phases/running.ts",
		guard: "? markWaitOver(state.workers, localRank)",
		without: "? state.workers",
		caughtBy: { test: SOFT_TESTS, named: "gives it up by itself" },
	},
	{
		name: "take who ended at PAUSE for done",
		file: "src/agent/phases/running.ts",
		guard: "isUnawares(slot) && !isEnding(slot)",
		without: "isUnawares(slot) && isEnding(slot)",
		caughtBy: { test: SOFT_TESTS, named: "before it has heard" },
	},
	{
		name: "start those anew for ever that do not listen any more",
		file: "src/agent/phases/running.ts",
		guard: "if (mayMeanPause && !isDone) {",
		without: "if (mayMeanPause) {",
		caughtBy: { test: SOFT_TESTS, named: "the second time" },
	},
	{
		name: "take who ended at PAUSE for done where another one did not listen",
		file: "src/agent/phases/running.ts",
		guard: "slot?.endedInPause && !slot.hasPaused",
		without: "slot?.endedInPause",
		caughtBy: { test: SOFT_TESTS, named: "it may have meant that" },
	},
	{
		name: "forget who did not listen",
		file: "src/agent/phases/take-seat.ts",
		guard: ": freshSlot(localRank, former);",
		without: ": freshSlot(localRank);",
		caughtBy: { test: SOFT_TESTS, named: "is remembered" },
	},
	{
		name: "blame workers for the time in which their agent was stopped",
		file: "src/agent/phases/fail.ts",
		guard: "if (now - (ackByOf(late) ?? now) > STOPPED_MS) {",
		without: "if (now - (ackByOf(late) ?? now) > Number.POSITIVE_INFINITY) {",
		caughtBy: {
			test: "test/unit/agent/soft-transition.test.ts",
			named: "was stopped itself",
		},
	},
];
