import { EXIT_CODES } from "../../base/errors.js";
import type { RestartDecision } from "../strategy.js";

/** What a rule may demand. */
export const RULE_ACTIONS = [
	"restart",
	"restart-uncounted",
	"replace-node",
	"stop-node",
	"fail-run",
] as const;
export type RuleAction = (typeof RULE_ACTIONS)[number];

/** Why a worker failed: it ended, it made no step, it made none but worked, or it could not be started or has not made its first step. */
export const RULE_CAUSES = ["crash", "hang", "slow", "start"] as const;
export type RuleCause = (typeof RULE_CAUSES)[number];

/** What rules know of a failure. */
export interface RuleFacts {
	/** 128 + n if signal n killed it. */
	readonly exit: number;
	/** The signal that killed it, or null. */
	readonly signal: string | null;
	/** The message of its error file, else the last lines of its stderr; empty if there is neither. */
	readonly error: string;
	readonly cause: RuleCause;
	readonly role: string;
	readonly node: string;
	readonly rank: number;
	readonly round: number;
	/** How long the worker had been up, in milliseconds. */
	readonly uptimeMs: number;
}

/** A range of whole numbers, both ends included. */
export interface NumberRange {
	readonly from: number;
	readonly to: number;
}

export type RuleTerm =
	| {
			readonly kind: "exit" | "rank" | "round";
			readonly ranges: readonly NumberRange[];
	  }
	| { readonly kind: "signal" | "role" | "node"; readonly name: string }
	| { readonly kind: "error"; readonly pattern: RegExp }
	| { readonly kind: "cause"; readonly cause: RuleCause }
	| {
			readonly kind: "uptime";
			readonly sign: "<" | ">";
			readonly uptimeMs: number;
	  }
	| { readonly kind: "any" };

/** `exit=3 => fail-run`. */
export interface Rule {
	/** Its position among the rules, from 1. */
	readonly number: number;
	/** As the user wrote it. */
	readonly text: string;
	/** All must hold. */
	readonly terms: readonly RuleTerm[];
	readonly action: RuleAction;
}

export function firstMatch(
	rules: readonly Rule[],
	facts: RuleFacts,
): Rule | undefined {
	return rules.find(({ terms }) => terms.every((term) => holds(term, facts)));
}

function holds(term: RuleTerm, facts: RuleFacts): boolean {
	switch (term.kind) {
		case "exit":
		case "rank":
		case "round": {
			const value = facts[term.kind];
			return term.ranges.some(({ from, to }) => from <= value && value <= to);
		}
		case "signal":
		case "role":
		case "node":
			return facts[term.kind] === term.name;
		case "error":
			return term.pattern.test(facts.error);
		case "cause":
			return facts.cause === term.cause;
		case "uptime":
			return term.sign === "<"
				? facts.uptimeMs < term.uptimeMs
				: facts.uptimeMs > term.uptimeMs;
		case "any":
			return true;
		default:
			return term satisfies never;
	}
}

/** "rule 2 (exit=3 => fail-run)". */
export function ruleWords({ number, text }: Rule): string {
	return `rule ${number} (${text})`;
}

/** A decision, perhaps with the exit code of a node that leaves. */
export interface Verdict extends RestartDecision {
	/** Undefined: the code for a node that should be replaced. */
	readonly exitCode?: number;
	/** This node is refused from now on, until somebody readmits it. */
	readonly departure?: "replaced";
	/** The rule that decided, in words. */
	readonly rule?: string;
}

/**
 * What follows from a rule. `restart` and `restart-uncounted` leave it to the policy how the workers are restarted; if the
 * policy would not restart them, all are.
 */
export function decisionOf(
	rule: Rule,
	askPolicy: () => RestartDecision,
): Verdict {
	const words = ruleWords(rule);
	const said = { reason: words, rule: words };
	switch (rule.action) {
		case "restart": {
			const { workers, charge } = asRestart(askPolicy());
			return { workers, charge, ...said };
		}
		case "restart-uncounted": {
			const { workers } = asRestart(askPolicy());
			return { workers, charge: "nothing", ...said };
		}
		case "replace-node":
			return {
				workers: "leave",
				charge: "nothing",
				...said,
				departure: "replaced",
			};
		case "stop-node":
			return {
				workers: "leave",
				charge: "nothing",
				...said,
				exitCode: EXIT_CODES.failed,
			};
		case "fail-run":
			return { workers: "fail-run", charge: "nothing", ...said };
		default:
			return rule.action satisfies never;
	}
}

/** What follows where this node is not known to be at fault: it does not leave, and the run pays. */
export function withoutCulprit(verdict: Verdict): Verdict {
	const { workers, charge, reason, rule } = verdict;
	if (workers !== "leave") {
		return { ...verdict, charge: charge === "nothing" ? charge : "run" };
	}
	const but = "but this node is not known to be at fault, and stays";
	return {
		workers: "restart",
		charge: "run",
		reason: `${reason}, ${but}`,
		...(rule !== undefined && { rule: `${rule}, ${but}` }),
	};
}

function asRestart(decision: RestartDecision): RestartDecision {
	return ["leave", "fail-run", "ignore"].includes(decision.workers)
		? { ...decision, workers: "restart", charge: "run" }
		: decision;
}
