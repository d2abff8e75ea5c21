import type { EscalationRung, Rung } from "../records/escalation.js";
import { parseRungs } from "../records/escalation.js";
import type { NodeFailure, RoundRecord } from "../records/records.js";
import type { PlannerConfig } from "./plan.js";
import { cameFurther, type RoundProgress } from "./progress.js";

type Config = Pick<PlannerConfig, "escalate" | "settleTimeoutMs">;

/**
 * Which rung follows a failure: the next one if the rung before brought no step forward, else the first. Undefined without
 * rungs, and for what costs nothing or is only a worker's request. A rung before comes again where a node would be
 * replaced that is not known to be at fault.
 */
export function rungFor(
	before: EscalationRung | undefined,
	root: NodeFailure,
	progress: RoundProgress,
	config: Config,
): EscalationRung | undefined {
	const rungs = parseRungs(config.escalate ?? "");
	const [first] = rungs;
	if (first === undefined || root.charge === "nothing" || root.isWish) {
		return undefined;
	}
	const isVain = (rung: Rung) =>
		rung === "replace-node" && root.failure.isUnattributed;
	const last = rungs[before?.at ?? rungs.length];
	if (!before || last === undefined || cameFurther(progress, root, config)) {
		if (isVain(first)) return undefined;
		const isMild = first === "soft" || first === "hard";
		const why = isMild ? undefined : `${first} is the first rung of --escalate`;
		return { at: 0, rung: first, ...(why && { why }) };
	}
	const at = Math.min(before.at + 1, rungs.length - 1);
	const rung = rungs[at] ?? last;
	if (isVain(rung)) {
		const mild = rungs.slice(0, at).findLast((each) => !isVain(each));
		const why = "it is not known which node is to be replaced";
		return mild && { at: before.at, rung: mild, why };
	}
	const why =
		rung === last
			? `${rung} is the last rung of --escalate`
			: `${last} brought no step forward`;
	return { at, rung, why };
}

/** The rung before, where it turns out that no worker was to blame. */
export function rungBefore(
	{ escalation }: Pick<RoundRecord, "escalation">,
	{ escalate = "" }: Pick<PlannerConfig, "escalate">,
): EscalationRung | undefined {
	const at = (escalation?.at ?? 0) - 1;
	const rung = parseRungs(escalate)[at];
	return rung && { at, rung };
}

/** "hard, because soft brought no step forward"; undefined where it goes without saying. */
export function rungInWords(
	rung: EscalationRung | undefined,
): string | undefined {
	return rung?.why === undefined
		? undefined
		: `${rung.rung}, because ${rung.why}`;
}

/** Whether a further rung than this one is left, so that the run may not be given up yet. */
export function hasFurtherRung(
	{ escalation }: Pick<RoundRecord, "escalation">,
	{ escalate = "" }: Pick<PlannerConfig, "escalate">,
): boolean {
	const rungs: readonly Rung[] = parseRungs(escalate);
	return escalation !== undefined && escalation.at < rungs.length - 1;
}
