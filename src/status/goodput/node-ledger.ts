/*
 * What a node's time was spent on, as one pure function of records.
 *
 * While its workers run in a round, the node's own account of its stages
 * decides, in this order, as long as there is time left:
 *
 *   announced as saving or loading                          | saving, loading
 *   the part of its steps that waited for a slow rank       | straggler
 *   a step that an earlier round had made                   | repeated
 *   a step that none had made                               | productive
 *   a step whose number cannot be compared                  | unknown
 *   until the first step                                    | startup
 *
 * What is left then is the time since the last step:
 *
 *   the round ended because of a hang                       | detecting
 *   since the first sign of a failure or of a lost node     | detecting
 *   no step in this round, though in others of this start   | startup
 *   anything else: a step that nobody has seen completed    | unknown
 *
 * While none of its workers runs, the first line that holds decides:
 *
 *   it ends its workers                                     | stopping
 *   its workers have all succeeded, its round goes on       | idle
 *   its workers are kept and wait                           | paused
 *   it is gone, or has no workers, and nobody has noticed   | detecting
 *   its round has begun, its workers are being started      | startup
 *   a round runs without it                                 | idle
 *   all were ready, the round has not begun                 | agreeing
 *   other nodes end their workers                           | stopping
 *   a node is not ready yet                                 | waiting-for-nodes
 *   anything else                                           | unknown
 */

import {
	type FailureRecord,
	type HistoryRecord,
	isInOrder,
	type LedgerRecord,
} from "../../rendezvous/index.js";
import { firstSignOf } from "../round-times.js";
import {
	addSpent,
	type Category,
	NOTHING_SPENT,
	type Spent,
} from "./categories.js";

/** One round of the run, and the end of the round before it. */
export type Line = Omit<HistoryRecord, "version">;

/** What is known of one node in one start of a run. */
export interface NodeAccount {
	readonly nodeId: string;
	/** The time that is divided, in milliseconds since 1970. */
	readonly from: number;
	readonly to: number;
	/** In the order of their rounds. */
	readonly records: readonly LedgerRecord[];
}

/** The rounds of one start of a run. */
export interface Story {
	readonly lines: readonly Line[];
	/** The failure that ended the run, if one did. */
	readonly root: FailureRecord | null;
	/** Whether any node has made a step. */
	readonly countsSteps: boolean;
	/** How long the steps of a round waited for slow ranks, in milliseconds, by round. */
	readonly stragglerMs: ReadonlyMap<number, number>;
}

/** How long a node's workers ran in one round. */
interface Run {
	readonly record: LedgerRecord;
	readonly from: number;
	readonly to: number;
	/** Its agent has seen the end. */
	readonly isClosed: boolean;
}

const NEVER = Number.POSITIVE_INFINITY;

/** Each moment of the node's time in one category. */
export function nodeLedger(account: NodeAccount, story: Story): Spent {
	const shared = claimsOfRounds(account.nodeId, story.lines);
	let spent = NOTHING_SPENT;
	let until = account.from;
	let before: Run | undefined;
	for (const run of runsOf(account, story)) {
		const claims = [...claimsAfter(before, story), ...shared];
		spent = addSpent(spent, divideTime(until, run.from, claims));
		spent = addSpent(spent, spentRunning(run, story));
		until = run.to;
		before = run;
	}
	const claims = [...claimsAfter(before, story), ...shared];
	return addSpent(spent, divideTime(until, account.to, claims));
}

/** The runs in their order, without overlaps, inside the node's time. */
function runsOf(
	{ records, from, to }: NodeAccount,
	story: Story,
): readonly Run[] {
	const runs: Run[] = [];
	let least = from;
	for (const record of records) {
		if (record.startedAt === null) continue;
		const begin = Math.min(to, Math.max(least, record.startedAt));
		const isClosed = record.ranUntil !== null;
		const end = record.ranUntil ?? endOf(record, records, story);
		const run = { record, isClosed, from: begin };
		least = Math.min(to, Math.max(begin, end));
		runs.push({ ...run, to: least });
	}
	return runs;
}

/** When the workers of an agent that did not see their end were gone: at the first sign of that. */
function endOf(
	record: LedgerRecord,
	records: readonly LedgerRecord[],
	{ lines }: Story,
): number {
	const { endedAt = null } = lines.find(isOf(record)) ?? {};
	const next = records.find(({ round }) => round > record.round);
	const sign = signOf(record, lines) ?? endedAt ?? NEVER;
	return Math.max(record.writtenAt, Math.min(sign, next?.arrivedAt ?? NEVER));
}

const isOf =
	({ round }: Pick<LedgerRecord, "round">) =>
	(line: Line) =>
		line.round === round;

/** When the first sign was of what ended a round; null if the round was not left because something went wrong. */
function signOf(
	record: Pick<LedgerRecord, "round">,
	lines: readonly Line[],
): number | null {
	const index = lines.findIndex(isOf(record));
	const [line, next] = [lines[index], lines[index + 1]];
	if (line === undefined || line.endedAt === null) return null;
	if (line.outcome === "failed" || isTrouble(next)) {
		const told = next && firstSignOf(next, line);
		return told ?? line.endedAt - (line.noticedAfterMs ?? 0);
	}
	return null;
}

function isTrouble(line: Line | undefined): boolean {
	const kind = line?.cause.kind;
	return kind === "failure" || kind === "scale-down";
}

function spentRunning({ record, from, to }: Run, story: Story): Spent {
	const { start, again, fresh, unsure, open } = record.stages;
	const all = [start, again, fresh, unsure, open];
	const ownMs = ({ ms, savingMs, loadingMs }: typeof start) =>
		ms - savingMs - loadingMs;
	const stepsMs = ownMs(again) + ownMs(fresh) + ownMs(unsure);
	const lostMs = Math.min(story.stragglerMs.get(record.round) ?? 0, stepsMs);
	// Nobody knows in which of the steps it was lost.
	const left = stepsMs === 0 ? 0 : 1 - lostMs / stepsMs;
	const { spent, rest } = allot(to - from, [
		["saving", all.reduce((sum, { savingMs }) => sum + savingMs, 0)],
		["loading", all.reduce((sum, { loadingMs }) => sum + loadingMs, 0)],
		["straggler", lostMs],
		["repeated", left * ownMs(again)],
		["productive", left * ownMs(fresh)],
		["unknown", left * ownMs(unsure)],
		["startup", ownMs(start)],
	]);
	const tail = { from: to - rest, to };
	return addSpent(
		spent,
		divideTime(tail.from, to, sinceLastStep(record, tail, story)),
	);
}

function sinceLastStep(
	record: LedgerRecord,
	tail: { readonly from: number; readonly to: number },
	story: Story,
): readonly Claim[] {
	const sign = signOf(record, story.lines);
	const claims: Claim[] = [];
	if (sign !== null) {
		const from = isHang(record, story) ? tail.from : sign;
		claims.push({ category: "detecting", from, to: tail.to });
	}
	if (record.steps === null && story.countsSteps) {
		claims.push({ category: "startup", ...tail });
	}
	return claims;
}

/** Only of a worker that hung there is evidence. */
function isHang({ round }: LedgerRecord, { lines, root }: Story): boolean {
	const roots = [...lines.map(({ cause }) => cause.root), root];
	return roots.some(
		(one) => one?.round === round && one.evidence !== undefined,
	);
}

/** What the node itself tells of the time after a run. */
function claimsAfter(run: Run | undefined, { lines }: Story): readonly Claim[] {
	if (run === undefined) return [];
	const { record, to: from, isClosed } = run;
	const { endedAt = null } = lines.find(isOf(record)) ?? {};
	if (!isClosed) {
		return [{ category: "detecting", from, to: endedAt ?? from }];
	}
	const stoppedAt = record.stoppedAt ?? record.leftAt ?? record.writtenAt;
	const claims: Claim[] = [{ category: "stopping", from, to: stoppedAt }];
	if (record.after === "finished") {
		claims.push({ category: "idle", from, to: endedAt ?? NEVER });
	}
	if (record.after === "paused") {
		claims.push({ category: "paused", from: stoppedAt, to: NEVER });
	}
	claims.push({ category: "detecting", from, to: endedAt ?? from });
	return claims;
}

/** What the history tells of a node's time while its workers do not run, strongest first: see node-ledger.ts. */
function claimsOfRounds(
	nodeId: string,
	lines: readonly Line[],
): readonly Claim[] {
	const present = lines.map((line): Claim => {
		const isMember = line.members.includes(nodeId);
		return {
			category: isMember ? "startup" : "idle",
			from: line.liftedAt,
			to: (isMember ? line.startedAt : null) ?? line.endedAt ?? NEVER,
		};
	});
	return [...present, ...lines.flatMap(waysInto), ...formation(lines)];
}

/** The way into a round, which all nodes go together. */
function waysInto(line: Line): readonly Claim[] {
	const { readyAt, liftedAt, stoppedAt } = line;
	const begunAt = line.begunAt ?? readyAt;
	const until = isInOrder(stoppedAt, readyAt)
		? (stoppedAt ?? begunAt)
		: begunAt;
	return [
		{ category: "agreeing", from: readyAt, to: liftedAt },
		{ category: "stopping", from: begunAt, to: until },
		{ category: "waiting-for-nodes", from: until, to: readyAt },
	];
}

/** Before the first round, and after the last one if no line tells of the next. */
function formation(lines: readonly Line[]): readonly Claim[] {
	const first = lines[0]?.readyAt ?? NEVER;
	const before: Claim = { category: "waiting-for-nodes", from: 0, to: first };
	const last = lines.at(-1);
	if (last?.endedAt == null || last.outcome !== null) return [before];
	return [
		before,
		{ category: "waiting-for-nodes", from: last.endedAt, to: NEVER },
	];
}

/** A claim on the time between two moments, in milliseconds since 1970. */
interface Claim {
	readonly category: Category;
	readonly from: number;
	readonly to: number;
}

/**
 * Divides the time from `from` to `to`: each moment goes to the first claim that covers it, and to `unknown` if none
 * does. So the parts always add up to the whole, whatever the claims are.
 */
function divideTime(from: number, to: number, claims: readonly Claim[]): Spent {
	const near = claims.filter((claim) => claim.from < to && claim.to > from);
	const cuts = near
		.flatMap((claim) => [claim.from, claim.to])
		.filter((at) => at > from && at < to);
	const bounds = [...new Set([from, ...cuts, to])].sort((a, b) => a - b);
	let spent = NOTHING_SPENT;
	for (const [index, begin] of bounds.entries()) {
		const end = bounds[index + 1];
		if (end === undefined) break;
		const first = near.find((claim) => claim.from <= begin && claim.to >= end);
		spent = addSpent(spent, { [first?.category ?? "unknown"]: end - begin });
	}
	return spent;
}

/** The part of a budget of time that each claim gets, in this order, as long as there is any left. */
function allot(
	total: number,
	wanted: readonly (readonly [category: Category, ms: number])[],
): { readonly spent: Spent; readonly rest: number } {
	let rest = Math.max(0, total);
	let spent = NOTHING_SPENT;
	for (const [category, ms] of wanted) {
		const given = Math.min(rest, Math.max(0, ms));
		rest -= given;
		spent = addSpent(spent, { [category]: given });
	}
	return { spent, rest };
}
