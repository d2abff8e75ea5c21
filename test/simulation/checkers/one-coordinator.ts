import type { Checker } from "../history.js";

/** Who writes what all share is the one who coordinates at that moment; only a new instance is begun by anybody. */
export const oneCoordinator: Checker = {
	name: "one-coordinator",
	*check({ commits }) {
		for (const [index, commit] of commits.entries()) {
			const before = commits[index - 1]?.round.instance;
			if (before !== commit.round.instance) continue;
			if (commit.by === commit.coordinator) continue;
			yield {
				at: commit.at,
				what: `${commit.by} wrote the round while ${commit.coordinator ?? "nobody"} coordinated`,
			};
		}
	},
};
