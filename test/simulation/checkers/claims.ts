import type { Checker } from "../history.js";

/** Who read an old round does not claim one that has begun meanwhile. */
export const claims: Checker = {
	name: "claims",
	*check({ staleClaims }) {
		for (const { at, by, claim, synced } of staleClaims) {
			yield { at, what: `${by} claims round ${claim} though ${synced} runs` };
		}
	},
};
