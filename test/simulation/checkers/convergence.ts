import type { Checker, History } from "../history.js";

/** Once faults stop, every live agent works in the same round, or all have ended with the same outcome. */
export const convergence: Checker = {
	name: "convergence",
	*check(history) {
		const what = whyNotAtRest(history);
		if (what !== undefined) yield { at: history.endedAt, what };
	},
};

export function hasConverged(history: History): boolean {
	return whyNotAtRest(history) === undefined;
}

function whyNotAtRest({
	processes,
	commits,
	records,
	spec,
}: History): string | undefined {
	const living = processes.filter(({ endedAt }) => endedAt === null);
	const last = commits.at(-1);
	if (living.length === 0) return undefined;
	const names = living.map(({ incarnation }) => incarnation).join(", ");
	if (last === undefined) return `${names}: no run was begun`;
	const { round, seats } = last;
	if (round.outcome !== null) return `${names}: still there after the outcome`;
	if (round.synced === round.deprecated) return "no round runs";
	const idle = living.filter(({ intent, incarnation, nodeId }) => {
		const seated = seats.get(nodeId)?.incarnation === incarnation;
		const works =
			(intent?.state === "running" || intent?.state === "finished") &&
			intent.claim === round.synced;
		const isDone = spec.finishedStay && intent?.state === "finished";
		return seated ? !works : intent?.state !== "ready" && !isDone;
	});
	if (idle.length > 0) {
		return `not in round ${round.synced}: ${idle.map(({ incarnation }) => incarnation).join(", ")}`;
	}
	for (const { nodeId, incarnation, intent, endedAt } of processes) {
		const seated = seats.get(nodeId)?.incarnation === incarnation;
		const isFinished =
			intent?.state === "finished" && intent.claim === round.synced;
		if (seated && endedAt !== null && !isFinished) {
			return `round ${round.synced} goes on without ${incarnation}`;
		}
	}
	const spares = living.length - seats.size;
	const someoneFinished = processes.some(
		({ intent }) =>
			intent?.state === "finished" && intent.claim === round.synced,
	);
	const someoneStays =
		spec.finishedStay === true &&
		records.some(
			({ record }) =>
				record?.state === "finished" && record.instance === round.instance,
		);
	const mayGrow =
		seats.size < spec.maxNodes && !someoneFinished && !someoneStays;
	return spares > 0 && mayGrow ? "a spare is not let in" : undefined;
}
