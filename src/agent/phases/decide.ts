import { messageOf } from "../../errors.js";
import { askPolicy, type PolicyColumn } from "../../policies/check-decision.js";
import type { RestartDecision } from "../../policies/strategy.js";

/** An illegal decision fails the run: going on by a guess could cost the user more. */
export function decide(
	policyName: string,
	column: PolicyColumn,
	ask: () => RestartDecision,
): RestartDecision {
	try {
		return askPolicy(policyName, column, ask);
	} catch (error) {
		const reason = messageOf(error);
		return { workers: "fail-run", charge: "nothing", reason };
	}
}
