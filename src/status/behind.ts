import { formatCount, formatDuration } from "../base/units.js";
import type {
	BehindRank,
	NodeStatus,
	RunDocument,
	WorkerStatus,
} from "./run-document.js";

/** One is behind whose last step is older than that of another by so many usual steps, and at least by so many seconds. */
const BEHIND_FACTOR = 10;
const BEHIND_SECONDS = 10;

/** Ranks that wait for each other stand still within one step: these do not wait, and are not waited for. */
export function behindOf(
	nodes: readonly Pick<NodeStatus, "nodeId" | "role" | "workers">[],
	busy: RunDocument["busy"] = [],
): readonly BehindRank[] {
	const roles = [...new Set(nodes.map(({ role }) => role))];
	return roles.flatMap((role) => {
		const workers = nodes
			.filter((node) => node.role === role)
			.flatMap((node) =>
				living(node.workers).map((worker) => ({ ...worker, ...node })),
			);
		const [newest] = workers.toSorted(
			(left, right) => left.secondsSinceStep - right.secondsSinceStep,
		);
		if (newest === undefined) return [];
		const usual = newest.stepRate ? 1 / newest.stepRate : 0;
		const least =
			newest.secondsSinceStep + Math.max(BEHIND_SECONDS, BEHIND_FACTOR * usual);
		const furthest = Math.max(...workers.map(({ step }) => step));
		return workers.flatMap(({ rank, nodeId, step, secondsSinceStep }) => {
			const isBusy = busy.some((one) => one.rank === rank);
			if (rank === null || isBusy || secondsSinceStep <= least) return [];
			const steps = furthest - step;
			return { rank, node: nodeId, seconds: secondsSinceStep, steps };
		});
	});
}

/** Those that have not ended; if all have, all. */
export function living(
	workers: readonly WorkerStatus[],
): readonly WorkerStatus[] {
	const left = workers.filter(({ ended }) => !ended);
	return left.length > 0 ? left : workers;
}

/** So many ranks are named. */
const MOST_BEHIND = 4;

/** "rank 1 on node-a: no step for 11 min 2 s, 3,300 behind", for each of the first, and how many more there are. */
export function behindInWords(
	behind: readonly BehindRank[],
	elapsedMs = 0,
): readonly string[] {
	const others = behind.length - MOST_BEHIND;
	return [
		...behind
			.slice(0, MOST_BEHIND)
			.map((one) => `rank ${one.rank} on ${one.node}: ${lag(one, elapsedMs)}`),
		...(others > 0
			? [
					`${formatCount(others, "more rank")} without steps, while others go on`,
				]
			: []),
	];
}

/** "no step for 11 min 2 s, 3,300 behind". */
export function lag(
	{ seconds, steps }: Pick<BehindRank, "seconds" | "steps">,
	elapsedMs = 0,
): string {
	const time = formatDuration(seconds * 1_000 + elapsedMs);
	const far = steps > 0 ? `, ${steps.toLocaleString("en-US")} behind` : "";
	return `no step for ${time}${far}`;
}
