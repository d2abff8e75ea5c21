import type { Checker } from "../history.js";

/** Instances, rounds and deprecations only rise, one round at a time, and nothing follows an outcome. */
export const roundsRise: Checker = {
	name: "rounds-rise",
	*check({ commits }) {
		for (const [index, commit] of commits.entries()) {
			const { at, round, wipes } = commit;
			const previous = commits[index - 1];
			const before = previous?.wipes === wipes ? previous.round : undefined;
			if (round.deprecated > round.synced) {
				yield { at, what: `round ${round.deprecated} is left before it began` };
			}
			if (before === undefined) continue;
			const sameInstance = round.instance === before.instance;
			if (round.instance < before.instance) {
				yield { at, what: "an older instance came back" };
			}
			if (
				round.synced < before.synced ||
				round.synced > before.synced + 1 ||
				round.deprecated < before.deprecated
			) {
				yield {
					at,
					what: `from synced ${before.synced}, deprecated ${before.deprecated} to ${round.synced}, ${round.deprecated}`,
				};
			}
			if (
				sameInstance &&
				round.synced === before.synced &&
				round.planId !== before.planId
			) {
				yield { at, what: `round ${round.synced} got another plan` };
			}
			if (sameInstance && before.outcome !== null) {
				yield { at, what: "the run changed after its outcome" };
			}
			if (
				sameInstance &&
				round.synced > before.synced &&
				before.deprecated < before.synced
			) {
				yield { at, what: `round ${round.synced} began in a running one` };
			}
		}
	},
};
