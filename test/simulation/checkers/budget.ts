import {
	type Checker,
	type History,
	lifts,
	type RoundCommit,
} from "../history.js";

/** One incident costs one unit of one budget, and nothing else costs anything. */
export const budget: Checker = {
	name: "budget",
	*check(history) {
		yield* perCommit(history);
		yield* perRound(history);
	},
};

function* perCommit({ commits, workers, spec }: History) {
	for (const [index, { at, round }] of commits.entries()) {
		const before = commits[index - 1]?.round;
		if (before?.instance !== round.instance) continue;
		const incidents = round.incidents - before.incidents;
		const charged = round.charged - before.charged;
		if (incidents < 0 || incidents > 1 || charged !== incidents) {
			yield { at, what: `${incidents} incidents cost ${charged}` };
		}
		if (incidents === 1 && round.deprecated !== round.synced) {
			yield { at, what: `round ${round.synced} goes on after its incident` };
		}
		const root = round.cause.root;
		if (incidents === 1) {
			const culprit = workers.find(
				(worker) =>
					worker.process.nodeId === root?.nodeId && worker.pid === root.pid,
			);
			// A worker that could not be started has no process.
			if (root === null || (root.pid !== null && !culprit?.failed)) {
				yield { at, what: "an incident was charged that no failure caused" };
			}
			const isRunning = before.synced > before.deprecated;
			if (isRunning && root !== null && root.round !== before.synced) {
				yield { at, what: `round ${before.synced} pays for ${root.round}` };
			}
		}
		if (round.charged > spec.maxRestarts && round.outcome === null) {
			yield { at, what: "the run goes on with its budget overdrawn" };
		}
	}
}

/** Between two lifts there is at most one incident, and each failure that was reported belongs to one. */
function* perRound(history: History) {
	const accounted = new Set<string>();
	const lifted = new Set(lifts(history));
	let before: RoundCommit | undefined;
	for (const [index, commit] of history.commits.entries()) {
		const known = history.commits[index - 1]?.round.accounted ?? [];
		for (const id of commit.round.accounted) {
			if (accounted.has(id) && !known.includes(id)) {
				yield { at: commit.at, what: `failure ${id} was accounted for twice` };
			}
			accounted.add(id);
		}
		if (!lifted.has(commit)) continue;
		const { at, round, nodes } = commit;
		const incidents = before ? round.incidents - before.round.incidents : 0;
		if (before?.round.instance === round.instance && incidents > 1) {
			yield { at, what: `${incidents} incidents in one round` };
		}
		for (const [nodeId, { failure }] of nodes) {
			// One that came in the same moment could not be seen by who lifted.
			const earlier = history.commits[index - 1]?.nodes.get(nodeId)?.failure;
			const id = failure?.failure.id;
			if (id === undefined || id !== earlier?.failure.id) continue;
			if (failure?.failure.round !== before?.round.synced) continue;
			if (accounted.has(id)) continue;
			yield { at, what: `failure ${id} was never charged` };
		}
		before = commit;
	}
}
