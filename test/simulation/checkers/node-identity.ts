import type { Checker } from "../history.js";

/** A process's record is its own while it lives: no other changes it or ends its lease. */
export const nodeIdentity: Checker = {
	name: "node-identity",
	*check({ intrusions }) {
		for (const { at, by, of } of intrusions) {
			if (of.endedAt !== null && of.endedAt <= at) continue;
			yield { at, what: `${by} took the record of ${of.incarnation}` };
		}
	},
};
