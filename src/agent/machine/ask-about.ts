import { decide } from "../../policies/check-decision.js";
import {
	decisionOf,
	firstMatch,
	type Rule,
	type Verdict,
	withoutCulprit,
} from "../../policies/rules/rule.js";
import type { RestartDecision } from "../../policies/strategy.js";
import type { Active } from "./begin-stopping.js";
import {
	type Failure,
	policyContext,
	rankOf,
	uptimeOf,
} from "./note-failure.js";
import type { TransitionContext } from "./step.js";

/** Rules are asked before the policy. */
export function verdictOn(
	state: Active,
	failure: Failure,
	cause: string,
	context: TransitionContext,
): Verdict {
	const askPolicy = () => askAbout(state, failure, cause, context);
	const rule = ruleOn(state, failure, context);
	const verdict =
		rule === undefined ? askPolicy() : decisionOf(rule, askPolicy);
	return failure.isUnattributed ? withoutCulprit(verdict) : verdict;
}

/** Whether a retry on this node cannot help, as far as the launcher knows: no policy is asked. */
export function isHopeless({ isOfNode, failsRun }: Failure): boolean {
	return isOfNode === true || failsRun !== undefined;
}

/** The rule that decides. Where a retry cannot help, only one with `cause=start` does: its author meant such failures. */
export function ruleOn(
	state: Active,
	failure: Failure,
	context: TransitionContext,
): Rule | undefined {
	const isGivenUp = isHopeless(failure);
	// A hang that `--on-hang fail` ends has a pid.
	if (isGivenUp && failure.pid !== null) return undefined;
	const rules = isGivenUp ? context.rules.filter(namesStart) : context.rules;
	return firstMatch(rules, {
		exit: failure.exitCode,
		signal: failure.exit?.signal ?? null,
		error: failure.error?.message ?? failure.lastLines ?? "",
		cause: failure.cause ?? "crash",
		role: state.seat?.role ?? "",
		node: context.nodeId,
		rank: rankOf(state, failure.localRank),
		round: state.round,
		uptimeMs: uptimeOf(failure),
	});
}

function namesStart({ terms }: Rule): boolean {
	return terms.some((term) => term.kind === "cause" && term.cause === "start");
}

/** What the policy decides. */
export function askAbout(
	state: Active,
	failure: Failure,
	cause: string,
	context: TransitionContext,
): RestartDecision {
	const { policy } = context;
	return decide(policy.name, "failure", () =>
		policy.onWorkerFailure({
			...policyContext(state, cause, context),
			rank: rankOf(state, failure.localRank),
			localRank: failure.localRank,
			role: state.seat?.role ?? "",
			exitCode: failure.exitCode,
			signal: failure.exit?.signal ?? null,
			uptimeMs: uptimeOf(failure),
			errorMessage: failure.error?.message,
		}),
	);
}
