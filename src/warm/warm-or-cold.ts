import type { NextStart } from "../model/index.js";
import type { WorkerExit } from "../processes/index.js";
import type { ColdReason, NextFacts, StartFacts } from "./ahead.js";

export type WarmDecision =
	| { readonly start: "warm" }
	| ({ readonly start: "cold" } & ColdReason);

/** Whether who has not asked for warm starts misses nothing here, and is not told. */
export function isUnasked(
	isFrugal: boolean,
	kind: ColdReason["kind"],
): boolean {
	return isFrugal && UNASKED.has(kind);
}

const UNASKED = new Set<ColdReason["kind"]>(["first", "command", "machine"]);

/** After so many rounds, the warmth itself may be what fails. */
const MOST_QUICK_ROUNDS = 2;
const TOO_QUICK = "the last two warm starts failed within a second";

/**
 * How a worker is started.
 * @param quickRounds how many rounds in a row have ended within a second after warm starts
 */
export function warmOrCold(
	{ problem, difference, waiting }: StartFacts,
	quickRounds: number,
): WarmDecision {
	if (quickRounds >= MOST_QUICK_ROUNDS) {
		return { start: "cold", kind: "failing", reason: TOO_QUICK };
	}
	if (problem !== undefined) return { start: "cold", ...problem };
	if (difference !== undefined) {
		return { start: "cold", kind: "changed", reason: difference };
	}
	return waiting === 0
		? { start: "cold", kind: "not-ready", reason: "no process is ready yet" }
		: { start: "warm" };
}

/** How the next start would be, as far as that is known before it. */
export function nextStart(
	{ isImporting, shown, ...facts }: NextFacts,
	quickRounds: number,
): NextStart {
	const decision = warmOrCold({ ...facts, difference: undefined }, quickRounds);
	if (decision.start === "warm") return { start: "warm", ...shown };
	const start = isImporting ? "importing" : "cold";
	return { start, reason: decision.reason, ...shown };
}

/** A worker that fails so soon after a warm start may fail because of it, in milliseconds. */
export const QUICK_MS = 1_000;

/** The rounds in a row whose warm workers failed at once. */
export class QuickRounds {
	private readonly rounds = new Set<string | undefined>();

	get count(): number {
		return this.rounds.size;
	}

	noteEnd(
		{ uptimeMs, code, signalledByAgent }: WorkerExit,
		round: string | undefined,
	): void {
		if (uptimeMs >= QUICK_MS || code === 0) {
			// In a round that has failed at once, its peers may take longer to end.
			if (!this.rounds.has(round)) this.rounds.clear();
		} else if (!signalledByAgent) this.rounds.add(round);
	}

	/** A worker that was started cold has ended. If it fails as early, the warmth is not what fails. */
	noteColdEnd(
		{ uptimeMs, code, signalledByAgent }: WorkerExit,
		earlyMs: number,
	): void {
		const isEarly = uptimeMs < earlyMs && code !== 0 && !signalledByAgent;
		if (isEarly) this.rounds.clear();
	}
}
