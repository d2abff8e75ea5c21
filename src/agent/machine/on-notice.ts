import { decide } from "../../policies/check-decision.js";
import type { Active } from "./begin-stopping.js";
import { scaleDown } from "./carry-out.js";
import type { NoticeInput } from "./inputs.js";
import { leaveAndHold } from "./leave-by-notice.js";
import { policyContext } from "./note-failure.js";
import { pause } from "./pause.js";
import {
	holdWith,
	isWorthARound,
	killAtWith,
	noticeInWords,
	type PendingNotices,
	TOO_LATE,
	withNotice,
	withoutOrigin,
} from "./pending-notices.js";
import type { AgentState, Finished, Next } from "./state.js";
import { ignore, type Transition, type TransitionContext } from "./step.js";
import { stop } from "./stop.js";
import { tellNotice, tellStay } from "./tell-notice.js";
import { isEnding } from "./worker-slot.js";
import { toEnd } from "./worker-slots.js";

type Open = Exclude<AgentState, { phase: "CLOSED" }>;

/** The machine will go, or will stay after all. */
export function onNotice(
	state: Open,
	input: NoticeInput,
	context: TransitionContext,
): Transition {
	const { notices: before } = state;
	const notices = noticesAfter(before, input, context);
	if (notices === before) return ignore(state);
	if (notices === undefined) return onStay(state, input, context);
	const after = shortened({ ...state, notices }, notices, context);
	const reason = noticeInWords(notices, context.now);
	const isChanged = notices[0] !== before?.[0];
	const effects = isChanged ? tellNotice(after, before === undefined) : [];
	const told = { state: after, effects, reason };
	if (after.phase === "FINISHED" || after.phase === "RUNNING") return told;
	const isGoing = after.phase === "STOPPING" && after.next.kind === "leave";
	if (isGoing || isWorthARound(notices, context.now)) return told;
	const left = leaveAndHold(after, notices, TOO_LATE, context);
	return { ...left, effects: [...effects, ...left.effects] };
}

/** An earlier deadline leaves less time to workers that end, or are held. */
function shortened<State extends Open>(
	before: State,
	notices: PendingNotices,
	context: TransitionContext,
): State {
	if (before.phase !== "STOPPING") return before;
	const latest = killAtWith(notices, context);
	const workers = before.workers.map((worker) =>
		isEnding(worker) ? toEnd(worker, latest) : worker,
	);
	const { next } = before;
	if (next.kind !== "leave" || next.holds === undefined) {
		return { ...before, workers };
	}
	const { until, killAt } = holdWith(notices, context);
	const holds = {
		until: Math.min(until, next.holds.until),
		killAt: Math.min(killAt, next.holds.killAt),
	};
	return { ...before, workers, next: { ...next, holds } };
}

function noticesAfter(
	before: PendingNotices | undefined,
	input: NoticeInput,
	context: TransitionContext,
): PendingNotices | undefined {
	if (input.kind === "noticed") {
		return withNotice(before, input.notice, context);
	}
	const left = before && withoutOrigin(before, input);
	return left?.length === before?.length ? before : left;
}

/** No notice holds any more: the node goes on as if there had been none, if it has not left yet. */
function onStay(
	state: Open,
	input: NoticeInput,
	context: TransitionContext,
): Transition {
	const words = "reason" in input ? `: ${input.reason}` : "";
	const reason = `the notice was withdrawn${words}; this node stays`;
	if (state.phase === "FINISHED") {
		return { state: staying(withoutNotices(state)), effects: [], reason };
	}
	const workers = state.workers.map((worker) => ({
		...worker,
		...{ noticed: false, ready: false },
	}));
	const after = { ...withoutNotices(state), workers };
	const effects = tellStay(after, reason);
	const isByNotice =
		after.phase === "STOPPING" &&
		after.next.kind === "leave" &&
		after.next.isByNotice === true;
	if (!isByNotice) return { state: after, effects, reason };
	// The others have left its round already.
	const next: Next = { kind: "rejoin" };
	const isHeld = after.next.kind === "leave" && after.next.holds !== undefined;
	const rejoining = { ...after, next };
	const back =
		isHeld && keepsWorkers(after, reason, context)
			? pause(rejoining, scaleDown(reason, context), context)
			: stop(rejoining, next, reason, context);
	return { ...back, effects: [...effects, ...back.effects] };
}

/** Workers that were not told to end may have the only copy of what the run has learnt. */
function keepsWorkers(
	state: Active,
	reason: string,
	context: TransitionContext,
): boolean {
	const { policy } = context;
	const { workers } = decide(policy.name, "scale", () =>
		policy.onScaleDown(policyContext(state, reason, context)),
	);
	return workers === "pause" || workers === "replace-failed";
}

/** Its workers have finished; it waits for the others again. */
function staying(state: Finished): Finished {
	const { leave, ...rest } = state;
	return leave?.isByNotice ? rest : state;
}

function withoutNotices<State extends Active | Finished>(state: State): State {
	return { ...state, notices: undefined };
}
