import { blame } from "../../evidence/blame.js";
import type { Verdict } from "../../evidence/evidence.js";
import type { RankEvidence } from "../../model/evidence.js";
import type { Still } from "./step-watch-options.js";

/** The node of the lowest rank. */
export function firstOf(evidence: readonly RankEvidence[]): string | undefined {
	return [...evidence].sort((left, right) => left.rank - right.rank)[0]?.nodeId;
}

/** Why a worker is ended that makes no step, as rules name it. */
export function causeOf(
	still: Still,
	{ kind }: Pick<Verdict, "kind">,
): "hang" | "slow" | "start" {
	if (still.kind === "no-first-step") return "start";
	return kind === "slow" ? "slow" : "hang";
}

/** Where a worker has not made its first step, it is the suspect: others may wait for it in vain. */
export function hangVerdict(
	still: Still,
	evidence: readonly RankEvidence[],
	{ nodeId, isWhole }: { readonly nodeId: string; readonly isWhole: boolean },
): Verdict {
	const verdict = blame(evidence, isWhole);
	if (still.kind === "still" || verdict.suspects.length > 0) return verdict;
	const one = evidence.find(
		({ nodeId: node, localRank }) =>
			node === nodeId && localRank === still.localRank,
	);
	if (one === undefined) return verdict;
	const { rank, nodeId: node, where = null } = one;
	const why = "it has not made its first step";
	return {
		...verdict,
		suspects: [{ rank, node, why, where }],
		waiting: verdict.waiting.filter((other) => other !== rank),
	};
}
