import { EXIT_CODES } from "../../src/base/errors.js";
import type { SettingsCheck } from "../../src/config/index.js";
import {
	askPolicy,
	decisionOf,
	firstMatch,
	type RuleFacts,
	ruleWords,
	type Verdict,
} from "../../src/policies/index.js";

/** What would follow a failure, as `validate --explain` says it. */
export interface Explanation {
	readonly facts: RuleFacts;
	/** "rule 2 (exit=3 => fail-run)", or "policy hard". */
	readonly decidedBy: string;
	/** In words. */
	readonly outcome: string;
	readonly charge: Verdict["charge"];
}

type Config = Pick<
	NonNullable<SettingsCheck["config"]>,
	| "policy"
	| "rules"
	| "maxRestarts"
	| "runId"
	| "exitCodes"
	| "isRecreated"
	| "failoverScope"
>;

const OUTCOMES: Readonly<Record<Verdict["workers"], string>> = {
	restart: "all workers of this node are restarted in a next round",
	pause: "all workers of this node are paused for a next round",
	"replace-failed":
		"the failed worker is replaced, the others of this node are paused",
	ignore:
		"the others go on without the failed worker if one of them can succeed, else it is replaced",
	leave: "this node leaves the run, which continues elsewhere",
	"fail-run": "the run fails with exit code CODE",
};

/** Asks the rules, then the policy. Throws POLICY_ILLEGAL if the policy does. */
export function explain(config: Config, facts: RuleFacts): Explanation {
	const { policy, rules, maxRestarts, runId, exitCodes } = config;
	const ask = () =>
		askPolicy(policy.name, "failure", () =>
			policy.onWorkerFailure({
				...{ runId, nodeId: facts.node, round: facts.round },
				...{ maxRestarts, charged: 0, cause: "asked by validate --explain" },
				...{ rank: facts.rank, localRank: facts.rank, role: facts.role },
				...{ exitCode: facts.exit, signal: facts.signal },
				...{ uptimeMs: facts.uptimeMs, errorMessage: facts.error || undefined },
			}),
		);
	const rule = firstMatch(rules, facts);
	const verdict: Verdict = rule === undefined ? ask() : decisionOf(rule, ask);
	const { workers, charge, exitCode = exitCodes.replaceNode } = verdict;
	const code = workers === "leave" ? ` (exit code ${exitCode})` : "";
	const ends = exitCodes.isPropagated ? facts.exit : EXIT_CODES.failed;
	const words = OUTCOMES[workers].replace("CODE", String(ends));
	const isAgain = workers !== "leave" && workers !== "fail-run";
	const outcome = isAgain ? again(workers, config) : `${words}${code}`;
	return {
		facts,
		decidedBy: rule === undefined ? `policy ${policy.name}` : ruleWords(rule),
		outcome,
		charge,
	};
}

/** How this node's workers, and those of other roles, get to their next round. */
function again(
	workers: Verdict["workers"],
	{ isRecreated, exitCodes, failoverScope }: Config,
): string {
	const words =
		isRecreated && workers === "restart"
			? `all workers of this node are ended, and its launcher exits with code ${exitCodes.restart}, to be started again`
			: OUTCOMES[workers];
	return failoverScope === "role" ? `${words}; other roles run on` : words;
}

/** "rule 1 (exit=3 => fail-run) decides: the run fails with exit code 1; charged: nothing". */
export function explanationInWords({
	decidedBy,
	outcome,
	charge,
}: Explanation): string {
	const paid = charge === "nothing" ? "nothing" : `the budget of the ${charge}`;
	return `${decidedBy} decides: ${outcome}; charged: ${paid}\n`;
}
