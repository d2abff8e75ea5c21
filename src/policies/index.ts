export {
	HardRestartPolicyStrategy,
	SoftReplaceRestartPolicyStrategy,
	SoftRestartPolicyStrategy,
} from "./built-in.js";
export { askPolicy, decide } from "./check-decision.js";
export { RestartPolicy } from "./restart-policy.js";
export {
	decisionOf,
	firstMatch,
	type NumberRange,
	RULE_ACTIONS,
	RULE_CAUSES,
	type Rule,
	type RuleCause,
	type RuleFacts,
	type RuleTerm,
	ruleWords,
	type Verdict,
	withoutCulprit,
} from "./rules/rule.js";
export type {
	Charge,
	PolicyContext,
	RestartDecision,
	RestartPolicyStrategy,
	WorkerFailureContext,
	WorkersAction,
} from "./strategy.js";
