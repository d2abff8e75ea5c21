import { messageOf } from "../../errors.js";
import { askPolicy } from "../../policies/check-decision.js";
import type { RestartDecision } from "../../policies/strategy.js";

/** An illegal decision fails the run: going on by a guess could cost the user more. */
export function decide(
	policyName: string,
	ask: () => RestartDecision,
): RestartDecision {
	try {
		return askPolicy(policyName, ask);
	} catch (error) {
		const reason = messageOf(error);
		return { workers: "fail-run", charge: "nothing", reason };
	}
}
