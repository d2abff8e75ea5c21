import { EXIT_CODES } from "../base/errors.js";
import { formatDuration, formatInstant } from "../base/units.js";
import type { Notice, NoticeOrigin } from "../model/index.js";

/** What is assumed if a notice names no deadline, in milliseconds: most platforms give more. */
const UNKNOWN_WINDOW_MS = 10_000;
/** Another round is begun only if so much time is left for its workers before SIGTERM, in milliseconds. */
export const LEAST_ROUND_MS = 60_000;
/** Why a node in no round leaves before that. */
export const TOO_LATE = "no round is begun any more";
/** Workers get so long between SIGTERM and SIGKILL even if the deadline has passed, in milliseconds. */
const LEAST_GRACE_MS = 1_000;
/** SIGTERM's exit code: the machine is going. */
const GOING_EXIT_CODE = 143;

/** A notice that holds. Times are on the agent's clock, in milliseconds. */
export interface PendingNotice {
	readonly notice: Omit<Notice, "origin">;
	readonly origin?: string | undefined;
	/** When the machine goes. */
	readonly goneAt: number;
	/** When the workers get SIGTERM at the latest. */
	readonly termAt: number;
}

/** At most one of each origin, that of the earliest deadline first. */
export type PendingNotices = readonly [PendingNotice, ...PendingNotice[]];

interface Times {
	readonly now: number;
	/** Milliseconds since 1970. */
	readonly wallTime: number;
	readonly shutdownTimeoutMs: number;
}

/** Adds a notice; it replaces one of the same origin. Unchanged if that says the same. */
export function withNotice(
	known: PendingNotices | undefined,
	notice: Notice,
	times: Times,
): PendingNotices {
	const same = known?.find(isOf(notice));
	if (known !== undefined && same !== undefined && isSame(same, notice)) {
		return known;
	}
	const others = known?.filter((one) => one !== same) ?? [];
	return (
		inOrder([...others, pending(notice, times)]) ?? [pending(notice, times)]
	);
}

/** Undefined if no other is left. */
export function withoutOrigin(
	known: PendingNotices,
	what: NoticeOrigin,
): PendingNotices | undefined {
	const isIt = isOf(what);
	return inOrder(known.filter((one) => !isIt(one)));
}

function isOf({ source, origin }: NoticeOrigin) {
	return (one: PendingNotice) =>
		one.notice.source === source && one.origin === origin;
}

/** SIGTERM comes the shutdown time-out before the deadline, or at half of what is left if that is less. */
function pending(
	{ source, origin, reason, deadline }: Notice,
	{ now, wallTime, shutdownTimeoutMs }: Times,
): PendingNotice {
	const leftMs =
		deadline === undefined
			? UNKNOWN_WINDOW_MS
			: Math.max(0, deadline - wallTime);
	const goneAt = now + leftMs;
	return {
		notice: { source, reason, deadline },
		origin,
		goneAt,
		termAt: goneAt - Math.min(shutdownTimeoutMs, leftMs / 2),
	};
}

function inOrder(
	notices: readonly PendingNotice[],
): PendingNotices | undefined {
	const [first, ...others] = [...notices].sort(
		(left, right) => left.goneAt - right.goneAt,
	);
	return first && [first, ...others];
}

function isSame({ notice }: PendingNotice, other: Notice): boolean {
	return notice.deadline === other.deadline && notice.reason === other.reason;
}

/** Whether the workers must have SIGTERM by now. */
export function isTermDue([{ termAt }]: PendingNotices, now: number): boolean {
	return now >= termAt;
}

/** Whether the workers of another round would have time to do something. */
export function isWorthARound(
	[{ termAt }]: PendingNotices,
	now: number,
): boolean {
	return termAt - now >= LEAST_ROUND_MS;
}

/** When that is over. */
export function tooLateAt([{ termAt }]: PendingNotices): number {
	return termAt - LEAST_ROUND_MS + 1;
}

/** When workers that get SIGTERM now are killed: before the machine goes, so that the others know that they are gone. */
export function killAtWith(
	[{ goneAt }]: PendingNotices,
	{ now, shutdownTimeoutMs }: Pick<Times, "now" | "shutdownTimeoutMs">,
): number {
	const latest = Math.min(now + shutdownTimeoutMs, goneAt);
	return Math.max(latest, now + LEAST_GRACE_MS);
}

/** Such a kill, no later than the machine goes. */
export function inTime(
	killAt: number,
	notices: PendingNotices | undefined,
	now: number,
): number {
	return notices === undefined
		? killAt
		: Math.min(killAt, Math.max(notices[0].goneAt, now + LEAST_GRACE_MS));
}

/** The time of workers whose round is over for another reason: no longer than that of any node that leaves. */
export interface Hold {
	/** When they get SIGTERM, if they are not ready to end before. */
	readonly until: number;
	readonly killAt: number;
}

export function holdWith(
	notices: PendingNotices,
	times: Pick<Times, "now" | "shutdownTimeoutMs">,
): Hold {
	const killAt = killAtWith(notices, times);
	const half = times.now + (killAt - times.now) / 2;
	return { until: Math.min(notices[0].termAt, half), killAt };
}

/** Why the node leaves, and with which exit code. */
export function leavingFor([{ notice }]: PendingNotices) {
	const isLifetime = notice.source === "lifetime";
	return {
		exitCode: isLifetime ? EXIT_CODES.replaceNode : GOING_EXIT_CODE,
		reason: inShort(notice),
	};
}

/** "notice from aws: spot interruption; this node must be gone in 118.0 s, and the workers get SIGTERM in 88.0 s at the latest". */
export function noticeInWords(
	[{ notice, goneAt, termAt }]: PendingNotices,
	now: number,
): string {
	const term = formatDuration(Math.max(0, termAt - now));
	const goes =
		notice.deadline === undefined
			? "this node must be gone soon, it is not known when"
			: `this node must be gone in ${formatDuration(Math.max(0, goneAt - now))}`;
	return `${inShort(notice)}; ${goes}, and the workers get SIGTERM in ${term} at the latest`;
}

function inShort({
	source,
	reason,
	deadline,
}: PendingNotice["notice"]): string {
	const by =
		deadline === undefined ? "" : `, gone at ${formatInstant(deadline)}`;
	return `notice from ${source}: ${reason}${by}`;
}
