import type { RestartDecision } from "../../src/policies/strategy.js";

/** What a policy of a test decides whenever it is asked, for the reason that it is told. */
export function decides(
	workers: RestartDecision["workers"],
	charge: RestartDecision["charge"] = "nothing",
) {
	return ({ cause }: { readonly cause: string }): RestartDecision => ({
		workers,
		charge,
		reason: cause,
	});
}
