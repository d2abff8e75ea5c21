import { ElasticRunError, messageOf } from "../base/errors.js";
import type { Charge, RestartDecision, WorkersAction } from "./strategy.js";

/** Which of a policy's methods is called: for a change of the membership, or for a worker's failure. */
export type PolicyColumn = "scale" | "failure";

/** A failed worker cannot be paused, and without a failure there is none to replace or ignore. */
const ACTIONS: Readonly<Record<PolicyColumn, ReadonlySet<WorkersAction>>> = {
	scale: new Set(["restart", "pause", "leave", "fail-run"]),
	failure: new Set([
		"restart",
		"replace-failed",
		"ignore",
		"leave",
		"fail-run",
	]),
};

const CHARGES: ReadonlySet<Charge> = new Set<Charge>([
	"run",
	"node",
	"worker",
	"nothing",
]);

/**
 * Asks a policy. A user's policy may return or throw anything.
 * @throws ElasticRunError POLICY_ILLEGAL naming the policy and what is wrong with its decision
 */
export function askPolicy(
	policyName: string,
	column: PolicyColumn,
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
	const actions = ACTIONS[column];
	if (!actions.has(workers)) {
		const when =
			column === "scale" ? "when the world changes" : "when a worker failed";
		throw illegal(
			`decided workers: "${workers}"; ${when}, use ${list(actions)}`,
		);
	}
	if (!CHARGES.has(charge)) {
		throw illegal(`decided charge: "${charge}"; use ${list(CHARGES)}`);
	}
	if (workers === "ignore" && charge !== "nothing") {
		throw illegal(
			`decided workers: "ignore" with charge: "${charge}"; use nothing`,
		);
	}
	if (typeof reason !== "string" || reason === "") {
		throw illegal("gave no reason for its decision");
	}
	return decision;
}

/** Like `askPolicy`, but an illegal decision fails the run: a guess could cost the user more. */
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

function list(values: ReadonlySet<string>): string {
	return [...values].join(", ");
}
