import { ElasticRunError } from "../errors.js";
import type { Charge, RestartDecision, WorkersAction } from "./strategy.js";

/** What this version can carry out. */
const ACTIONS: ReadonlySet<WorkersAction> = new Set<WorkersAction>([
	"restart",
	"leave",
	"fail-run",
]);

const CHARGES: ReadonlySet<Charge> = new Set<Charge>([
	"run",
	"node",
	"worker",
	"nothing",
]);

/**
 * Asks a policy, which may be a user's own and return or throw anything.
 * @throws ElasticRunError POLICY_ILLEGAL naming the policy and what is wrong with its decision
 */
export function askPolicy(
	policyName: string,
	ask: () => RestartDecision,
): RestartDecision {
	const illegal = (problem: string, cause?: unknown) =>
		new ElasticRunError(
			"POLICY_ILLEGAL",
			`restart policy "${policyName}" ${problem}`,
			{ cause },
		);
	let decision: RestartDecision;
	try {
		decision = ask();
	} catch (error) {
		throw illegal(`threw ${String(error)}`, error);
	}
	if (typeof decision !== "object" || decision === null) {
		throw illegal(
			"returned no decision: { workers, charge, reason } is needed",
		);
	}
	const { workers, charge, reason } = decision;
	if (!ACTIONS.has(workers)) {
		throw illegal(
			`decided workers: "${workers}"; this version can carry out ${list(ACTIONS)}`,
		);
	}
	if (!CHARGES.has(charge)) {
		throw illegal(`decided charge: "${charge}"; use ${list(CHARGES)}`);
	}
	if (typeof reason !== "string" || reason === "") {
		throw illegal("gave no reason for its decision");
	}
	return decision;
}

function list(values: ReadonlySet<string>): string {
	return [...values].join(", ");
}
