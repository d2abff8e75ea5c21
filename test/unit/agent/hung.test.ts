import { expect, it } from "vitest";
import { transition } from "../../../src/agent/machine/decide.js";
import type {
	AgentInput,
	TransitionContext,
} from "../../../src/agent/machine/inputs.js";
import { INITIAL_STATE } from "../../../src/agent/machine/state.js";
import { parseRules } from "../../../src/config/parse/rules.js";
import { contextAt, seen } from "./soft-agent.js";

/** What this agent reports of a worker that hangs. */
function reported(
	context: TransitionContext,
	change: Partial<AgentInput & { kind: "worker-hung" }>,
) {
	const started = { kind: "worker-started", localRank: 0, pid: 7 } as const;
	const hung: AgentInput = {
		...{ kind: "worker-hung", round: 1, localRank: 0, pid: 7 },
		...{ description: "hung for 61 s", evidence: [], stillMs: 61_000 },
		...{ failsRun: false, ...change },
	};
	let state = transition(INITIAL_STATE, seen(0), context).state;
	for (const input of [seen(1), started, hung]) {
		state = transition(state, input, context).state;
	}
	return state;
}

function withRules(text: string): TransitionContext {
	const rules = parseRules(text);
	if ("problems" in rules) throw new Error("a slip");
	return { ...contextAt(), rules: rules.value };
}

it("a rule and the report hear how long a worker that hangs has been up, and what it said last", () => {
	const context = withRules(
		"uptime<30s => fail-run\ncause=hang,uptime>1h,error=/NCCL/ => restart-uncounted",
	);
	const state = reported(context, {
		uptimeMs: 7_200_000,
		lastLines: "step 7\nNCCL watchdog timed out",
	});
	expect(state.failure).toMatchObject({
		charge: "nothing",
		failure: {
			uptimeMs: 7_200_000,
			rule: "rule 2 (cause=hang,uptime>1h,error=/NCCL/ => restart-uncounted)",
		},
	});
});

it.each([
	["uptime>1h", undefined, "node", "rejoin"],
	["uptime>1h", true, "run", "rejoin"],
	["cause=hang => replace-node", undefined, "nothing", "leave"],
	["cause=hang => replace-node", true, "run", "rejoin"],
	["cause=hang => stop-node", true, "run", "rejoin"],
	["cause=hang => restart-uncounted", true, "nothing", "rejoin"],
	["cause=hang => fail-run", true, "nothing", "rejoin"],
] as const)("with the rule %j, without a suspect (%s): charge %s, then the node does %s", (rule, isUnattributed, charge, kind) => {
	const rules = rule.includes("=>") ? rule : `${rule} => fail-run`;
	const state = reported(
		withRules(rules),
		isUnattributed ? { isUnattributed } : {},
	);
	const failure = { charge, failure: { isUnattributed } };
	expect(state).toMatchObject({ failure });
	expect(state.leaving === undefined ? "rejoin" : "leave").toBe(kind);
});
