import { isRestarting } from "../records/candidates.js";
import { describeFailure } from "../records/failure.js";
import { currentPlaces } from "../records/places.js";
import type {
	NodeFailure,
	RoundCause,
	RoundRecord,
} from "../records/records.js";
import type { NodeView, RunView } from "../records/run-view.js";
import { type Charged, outcomeOf, pay } from "./payment.js";
import type { PlannerConfig, PlannerMemory, RunTime } from "./plan.js";
import { reasonIn, restarting } from "./role-scope.js";

/** The run's changes by failures that are not accounted for yet; undefined if there are none. */
interface Incident extends Charged {
	readonly reason: string;
}

/**
 * Accounts for failures. Failures seen before the next round is synced are one incident. Its root is the failure that the
 * store saw first, whatever the nodes' clocks say.
 */
export function chargeIncident(
	view: RunView,
	{ trial }: PlannerMemory,
	config: PlannerConfig,
	{ now, runTime }: RunTime,
): Incident | undefined {
	const fresh = unaccountedFailures(view);
	// A failure explains why others wait, even if their waiting was reported first.
	const failed = fresh.filter(({ isWish = false }) => !isWish);
	const telling = failed.length > 0 ? failed : fresh;
	const [first] = telling;
	if (first === undefined) return undefined;

	const { round } = view;
	const isOver = trial?.round === round.synced && now >= trial.at;
	const root = telling.find((reported) => !isPartOf(round, reported, isOver));
	const charged =
		root === undefined ? join(view, first) : begin(view, root, config, runTime);
	return {
		...charged,
		round: {
			...charged.round,
			deprecated: round.synced,
			accounted: [...round.accounted, ...fresh.map(failureId)],
			outcome: outcomeOf(charged.round, fresh, config, runTime),
		},
	};
}

/**
 * Whether the failure belongs to what has ended its round, or the round before.
 * @param isOver whether the running round has run so long that it has nothing to do with the one before
 */
function isPartOf(
	{ deprecated, unpaid }: RoundRecord,
	{ failure, unaware = false, paused = false, isWish = false }: NodeFailure,
	isOver: boolean,
): boolean {
	if (failure.round > deprecated) return paused && !isOver;
	// A failure explains a wait for another round, not the reverse.
	if (unpaid !== undefined) return isWish || unpaid.isWish !== true;
	return unaware || paused;
}

/** Adds a failure that an earlier event explains. If its round was over, the next one is left for it. */
function join(view: RunView, failed: NodeFailure): Incident {
	const { round } = view;
	const isOpen = round.deprecated >= round.synced;
	const reason = alsoFailed(round, failed);
	const { role } = failed.failure;
	const scope = restarting(view, [role]);
	const cause: RoundCause = isOpen
		? {
				...round.cause,
				...scope,
				reason: isRestarting(round, role)
					? round.cause.reason
					: `${round.cause.reason}; ${reasonIn(view, [role], describeFailure(failed.failure))}`,
			}
		: {
				...round.cause,
				kind: "failure",
				changeEvent: "SCALE_DOWN",
				reason,
				isWish: undefined,
				...scope,
			};
	return { round: { ...round, cause }, budgets: new Map(), reason };
}

function alsoFailed({ cause }: RoundRecord, { failure }: NodeFailure): string {
	return cause.root === null
		? `${describeFailure(failure)}, as its round was left: ${cause.reason}`
		: `${describeFailure(failure)}, part of the same incident`;
}

function failureId(reported: NodeFailure): string {
	return reported.failure.id;
}

function failuresOf(view: RunView): readonly NodeFailure[] {
	return [...view.nodes.values()]
		.sort((left, right) => left.modRevision - right.modRevision)
		.flatMap(({ record }: NodeView) => record.failure ?? []);
}

/**
 * Failures of the newest round, and those of the one before that were reported after the newest had begun. Any other of
 * an earlier round comes from a node that was unreachable when that round was left: the run continued without it, and has
 * accounted for it as for a node that vanished.
 */
function unaccountedFailures(view: RunView): readonly NodeFailure[] {
	const { synced, accounted } = view.round;
	return failuresOf(view).filter(
		(reported) =>
			(reported.failure.round >= synced || hasCrossed(view, reported)) &&
			!accounted.includes(reported.failure.id),
	);
}

/** Whether its node has a seat all the same and leaves it because of the failure, or the failure would end the run. */
function hasCrossed(
	view: RunView,
	{ failure, failsRun }: NodeFailure,
): boolean {
	const { synced } = view.round;
	const record = view.nodes.get(failure.nodeId)?.record;
	if (record === undefined || failure.round !== synced - 1) return false;
	return (
		(record.claim > synced || failsRun !== null) &&
		currentPlaces(view).some(
			({ incarnation }) => incarnation === record.incarnation,
		)
	);
}

function begin(
	view: RunView,
	root: NodeFailure,
	config: PlannerConfig,
	runTime: number,
): Incident {
	const { role } = root.failure;
	const scope = restarting(view, [role]);
	const reason = reasonIn(view, [role], describeFailure(root.failure));
	const round: RoundRecord = {
		...view.round,
		cause: {
			kind: "failure",
			changeEvent: "SCALE_DOWN",
			reason,
			root: root.failure,
			isWish: root.isWish,
			...scope,
		},
		incidents: view.round.incidents + (view.round.unpaid ? 0 : 1),
		unpaid: undefined,
	};
	return root.failsRun === null
		? { round: { ...round, unpaid: root }, budgets: new Map(), reason }
		: { ...pay(view, round, root, config, runTime), reason };
}
