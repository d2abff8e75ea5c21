import { expect, it } from "vitest";
import type { AgentInput } from "../../../src/agent/machine/inputs.js";
import { INITIAL_STATE } from "../../../src/agent/machine/state.js";
import { transition } from "../../../src/agent/machine/transition.js";
import { parseRules } from "../../../src/config/parse/rules.js";
import { contextAt, seen } from "./soft-agent.js";

it("a rule and the report hear how long a worker that hangs has been up, and what it said last", () => {
	const rules = parseRules(
		"uptime<30s => fail-run\ncause=hang,uptime>1h,error=/NCCL/ => restart-uncounted",
	);
	if ("problems" in rules) throw new Error("a slip");
	const context = { ...contextAt(), rules: rules.value };
	const started = { kind: "worker-started", localRank: 0, pid: 7 } as const;
	const hung: AgentInput = {
		...{ kind: "worker-hung", round: 1, localRank: 0, pid: 7 },
		...{ description: "hung for 61 s", evidence: [], stillMs: 61_000 },
		...{ uptimeMs: 7_200_000, failsRun: false },
		lastLines: "step 7\nNCCL watchdog timed out",
	};
	let state = transition(INITIAL_STATE, seen(0), context).state;
	for (const input of [seen(1), started, hung]) {
		state = transition(state, input, context).state;
	}
	expect(state.failure).toMatchObject({
		charge: "nothing",
		failure: {
			uptimeMs: 7_200_000,
			rule: "rule 2 (cause=hang,uptime>1h,error=/NCCL/ => restart-uncounted)",
		},
	});
});
