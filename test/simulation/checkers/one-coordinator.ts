import type { Checker } from "../history.js";

/** Who writes what all share is the one who coordinates at that moment; only a new instance is begun by anybody. */
export const oneCoordinator: Checker = {
	name: "one-coordinator",
	*check({ usurpations }) {
		for (const { at, by, coordinator, key } of usurpations) {
			yield {
				at,
				what: `${by} wrote ${key} while ${coordinator ?? "nobody"} coordinated`,
			};
		}
	},
};
