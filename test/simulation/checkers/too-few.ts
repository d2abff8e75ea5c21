import { EXIT_CODES } from "../../../src/errors.js";
import { type Checker, predecessor } from "../history.js";

/** The longest from a coordinator's look to what it writes, in milliseconds. */
const PLANNING_MS = 3_000;

/** A run ends for want of nodes only when it has waited the whole join time-out, and in vain. */
export const tooFew: Checker = {
	name: "too-few",
	*check(history) {
		const { commits, records, spec } = history;
		for (const [index, { at, round, nodes }] of commits.entries()) {
			if (round.outcome?.exitCode !== EXIT_CODES.rendezvous) continue;
			const before = predecessor(history, index);
			if (before === undefined || before.round.outcome !== null) continue;
			if (at < before.at + spec.joinTimeoutMs) {
				yield {
					at,
					what: `gave up ${Math.round(at - before.at)} ms after the last change`,
				};
			}
			const since = (nodeId: string) =>
				records.findLast(
					(change) => change.nodeId === nodeId && change.at <= at,
				)?.at ?? at;
			const ready = [...nodes.values()].filter(
				({ nodeId, state, claim }) =>
					state === "ready" &&
					claim === round.synced + 1 &&
					since(nodeId) < at - PLANNING_MS,
			);
			if (ready.length >= spec.minNodes) {
				yield { at, what: `gave up though ${ready.length} were ready` };
			}
		}
	},
};
