import type { NewIntent } from "../../rendezvous/index.js";
import type { Facts } from "./state.js";

/** The content of the agent's record, without times; null: nothing yet, or nothing more. */
export function intentOf(facts: Facts): NewIntent | null {
	const { phase, failure, fencedIn, claim, leaving, runsOnTo } = facts;
	const cause = facts.cause ?? null;
	const base = {
		failure,
		fencedIn,
		cause: null,
		finishedPlan: null,
		pids: pidsOf(facts),
		notice: facts.notices?.[0].notice,
	};
	switch (phase) {
		case "JOINING":
			return claim === 0 ? null : { ...base, cause, state: "ready", claim };
		case "RUNNING":
			return runsOnTo === undefined
				? { ...base, state: "running", claim: facts.round }
				: { ...base, state: "ready", claim: runsOnTo, runsOn: true };
		case "STOPPING": {
			const { awaitsWorkersMs } = facts;
			if (leaving === undefined) {
				return { ...base, cause, state: "stopping", claim, awaitsWorkersMs };
			}
			const { reason, isAsked, departure } = leaving;
			const said = { cause: reason, isAsked, departure };
			return { ...base, ...said, state: "leaving", claim };
		}
		case "FINISHED": {
			const finishedPlan = facts.planId ?? null;
			return { ...base, state: "finished", claim: facts.round, finishedPlan };
		}
		case "CLOSED":
			return null;
		default:
			return phase satisfies never;
	}
}

/** The pids of its workers, including paused ones. */
function pidsOf({ phase, workers }: Facts): readonly (number | null)[] {
	return workers
		.filter(({ status }) => phase !== "JOINING" || status !== "gone")
		.map(({ pid }) => pid);
}
