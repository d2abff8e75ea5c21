import { EXIT_CODES } from "../../../src/base/errors.js";
import {
	type Checker,
	type History,
	isSpent,
	predecessor,
	type RoundCommit,
} from "../history.js";

/** The longest from a coordinator's look to what it writes, in milliseconds. */
const PLANNING_MS = 3_000;

/** A run ends for want of nodes only when it has waited the whole join time-out, and in vain: a node may be refused without hearing of it. */
export const tooFew: Checker = {
	name: "too-few",
	*check(history) {
		const { commits, records, spec } = history;
		for (const [index, commit] of commits.entries()) {
			const { at, round, nodes } = commit;
			const finished = spec.finishedStay ? commit.finished : new Set();
			if (round.outcome?.exitCode !== EXIT_CODES.rendezvous) continue;
			const before = predecessor(history, index);
			if (before === undefined || before.round.outcome !== null) continue;
			const { at: from } = beginOfWait(history, index) ?? before;
			if (at < from + spec.joinTimeoutMs) {
				yield { at, what: `gave up after ${Math.round(at - from)} ms` };
			}
			const since = (nodeId: string) =>
				records.findLast(
					(change) => change.nodeId === nodeId && change.at <= at,
				)?.at ?? at;
			const ready = [...nodes.values()].filter(
				({ nodeId, state, claim }) =>
					state === "ready" &&
					!finished.has(nodeId) &&
					!isSpent(commit, nodeId, spec) &&
					claim === round.synced + 1 &&
					since(nodeId) < at - PLANNING_MS,
			);
			const enough = ready.length + finished.size >= spec.minNodes;
			if (ready.length > 0 && enough) {
				yield { at, what: `gave up though ${ready.length} were ready` };
			}
		}
	},
};

/** The commit since which no round runs: what fails meanwhile changes nothing of that. */
function beginOfWait(history: History, until: number): RoundCommit | undefined {
	return history.commits.findLast((commit, index) => {
		const before = predecessor(history, index)?.round;
		const { deprecated, synced } = commit.round;
		const isSame =
			before?.deprecated === deprecated && before.synced === synced;
		return index < until && !isSame;
	});
}
