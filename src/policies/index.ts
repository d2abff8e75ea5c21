export { askPolicy, decide } from "./check-decision.js";
export { HardRestartPolicyStrategy } from "./hard-restart-policy.js";
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
export { SoftReplaceRestartPolicyStrategy } from "./soft-replace-restart-policy.js";
export { SoftRestartPolicyStrategy } from "./soft-restart-policy.js";
export type {
	Charge,
	PolicyContext,
	RestartDecision,
	RestartPolicyStrategy,
	WorkerFailureContext,
	WorkersAction,
} from "./strategy.js";
