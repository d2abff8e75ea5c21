import type { Stopping } from "./state.js";
import type { Transition, TransitionContext } from "./step.js";
import { deadlinesOf } from "./worker-slot.js";
import { isDue } from "./worker-slots.js";

/** Workers that are told to end get the launcher's own signal, and SIGTERM when half of their time is over. */
export function signalFirst(
	stopped: Transition,
	signal: NodeJS.Signals | undefined,
	{ now }: TransitionContext,
): Transition {
	const { state } = stopped;
	if (signal === undefined || signal === "SIGTERM") return stopped;
	if (state.phase !== "STOPPING") return stopped;
	const localRanks = stopped.effects.flatMap((effect) =>
		effect.kind === "terminate" ? effect.localRanks : [],
	);
	const killAt = Math.min(
		...killTimes(state).flatMap(([localRank, at]) =>
			localRanks.includes(localRank) ? [at] : [],
		),
	);
	if (killAt === Number.POSITIVE_INFINITY) return stopped;
	const termLater = { at: now + (killAt - now) / 2, localRanks };
	const effects = stopped.effects.map((effect) =>
		effect.kind === "terminate" ? { ...effect, signal } : effect,
	);
	return { ...stopped, state: { ...state, termLater }, effects };
}

/** SIGTERM for those that the first signal has not ended. Undefined if it is not time. */
export function termIfDue(
	state: Stopping,
	{ now }: TransitionContext,
): Transition | undefined {
	const { termLater, ...others } = state;
	if (termLater === undefined || !isDue(termLater.at, now)) return undefined;
	const localRanks = killTimes(state)
		.map(([localRank]) => localRank)
		.filter((localRank) => termLater.localRanks.includes(localRank));
	return {
		state: others,
		effects: localRanks.length > 0 ? [{ kind: "terminate", localRanks }] : [],
		reason:
			localRanks.length > 0 ? "SIGTERM: half of the time to end is over" : "",
	};
}

/** The workers that are told to end and not gone, by local rank, with the time of their SIGKILL. */
function killTimes({
	workers,
}: Stopping): readonly (readonly [number, number])[] {
	return workers.flatMap((worker) => {
		const { killAt } = deadlinesOf(worker);
		return killAt === null ? [] : [[worker.localRank, killAt] as const];
	});
}
