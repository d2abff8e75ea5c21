/*
 * What a node's workers do in one round, as a fold over what they show:
 *
 *   news                       | the time since the last step goes to
 *   ---------------------------|--------------------------------------
 *   the first step             | start
 *   a step of an earlier round | again
 *   a new step                 | fresh
 *   one that cannot be compared| unsure
 *
 * Steps can be compared if their numbers say how far the program is. Numbers
 * of the hook begin at 0 in each process; where a number has gone back within
 * a round, a program begins again with each epoch.
 *
 * A worker announces saving or loading. That lasts until its next report or
 * step, at most as long as it has said. While one worker saves, its node does.
 */

import type {
	Furthest,
	RoundSteps,
	Stages,
	StageTime,
	StepSource,
} from "../model/index.js";

/** A worker's new step. All times are milliseconds on the agent's steady clock. */
export interface WorkerStep {
	readonly worker: string;
	readonly step: number;
	readonly source: StepSource;
	/** It was in an earlier round already. */
	readonly isKept: boolean;
	readonly at: number;
}

interface Announcement {
	readonly worker: string;
	readonly kind: Announced;
	readonly until: number;
}

export interface Work {
	/** How far earlier rounds came; null if there is none. */
	readonly before: Furthest | null;
	/** Until when announced times are counted. */
	readonly at: number;
	/** When the last step was made, or when the workers began. */
	readonly steppedAt: number;
	readonly steps: RoundSteps | null;
	readonly last: ReadonlyMap<string, number>;
	readonly stages: Stages;
	readonly announced: readonly Announcement[];
	readonly saves: number;
}

export function beginWork(at: number, before: Furthest | null): Work {
	return {
		before,
		at,
		steppedAt: at,
		steps: null,
		last: new Map(),
		stages: {
			start: NO_TIME,
			again: NO_TIME,
			fresh: NO_TIME,
			unsure: NO_TIME,
			open: NO_TIME,
		},
		announced: [],
		saves: 0,
	};
}

/** How far this round and those before it came. */
export function furthestOf({
	steps,
	before,
}: Pick<Work, "steps" | "before">): Furthest | null {
	return further(before, steps?.furthest ?? null);
}

/** How far a run came, by what its nodes did in its last rounds, the oldest first. */
export function furthestOfAll(
	rounds: readonly Pick<Work, "steps" | "before">[],
): Furthest | null {
	return rounds.map(furthestOf).reduce(further, null);
}

/** Numbers of another source than before replace those of before. */
export function further(
	before: Furthest | null,
	now: Furthest | null,
): Furthest | null {
	if (now === null || before === null) return now ?? before;
	const isFurther = now.source !== before.source || now.step > before.step;
	const { step, source } = isFurther ? now : before;
	const startsOver = now.startsOver ?? before.startsOver;
	return { step, source, ...(startsOver && { startsOver }) };
}

/** Counts the announced time until then. */
export function workUntil(work: Work, at: number): Work {
	let { at: from, announced } = work;
	let { open } = work.stages;
	while (from < at) {
		announced = announced.filter(({ until }) => until > from);
		const to = Math.min(at, ...announced.map(({ until }) => until));
		open = withAnnounced(open, announced, to - from);
		from = to;
	}
	return { ...work, at: from, announced, stages: { ...work.stages, open } };
}

/** What a worker is busy with, by the word that it says; null if it is neither. */
export function announcedBy(busy: string): Announced | null {
	if (/load|restor/i.test(busy)) return "loading";
	return /sav|checkpoint/i.test(busy) ? "saving" : null;
}

/** Takes a report that announces something, or with null that it is over. */
export function noteAnnouncement(
	work: Work,
	worker: string,
	kind: Announced | null,
	{ at, forMs }: { readonly at: number; readonly forMs: number },
): Work {
	const now = workUntil(work, at);
	const others = now.announced.filter((one) => one.worker !== worker);
	if (kind === null) return { ...now, announced: others };
	const isSaving = now.announced.some((one) => one.kind === "saving");
	const isNewSave = kind === "saving" && !isSaving;
	const until = now.at + forMs;
	return {
		...now,
		announced: [...others, { worker, kind, until }],
		saves: now.saves + (isNewSave ? 1 : 0),
	};
}

export function noteWorkerStep(work: Work, step: WorkerStep): Work {
	const now = workUntil(work, step.at);
	const { stages } = now;
	const { open } = stages;
	const name = stageOf(now, step);
	const spent = { ...open, ms: now.at - now.steppedAt };
	const part = name === "fresh" ? partAgain(now, step.step) : 0;
	const { again, rest } = split(spent, part);
	const after = {
		...stages,
		open: NO_TIME,
		again: sum(stages.again, again),
	};
	return {
		...now,
		steppedAt: now.at,
		steps: withStep(now, step, name),
		last: new Map(now.last).set(step.worker, step.step),
		stages: { ...after, [name]: sum(after[name], rest) },
		announced: now.announced.filter(({ worker }) => worker !== step.worker),
	};
}

function stageOf(work: Work, step: WorkerStep): Exclude<keyof Stages, "open"> {
	if (work.steps === null) return "start";
	return kindOf(work, step);
}

function kindOf(
	{ before, steps }: Work,
	{ step, source, isKept }: WorkerStep,
): "again" | "fresh" | "unsure" {
	if (before === null) return "fresh";
	const startsOver = steps?.furthest.startsOver ?? before.startsOver;
	const isFromZero = source === "hook" && !isKept;
	if (startsOver || isFromZero || source !== before.source) return "unsure";
	return step <= before.step ? "again" : "fresh";
}

/** The part of the time since the last step that went to steps of earlier rounds: not each of fast steps is seen. */
function partAgain({ before, steps }: Work, step: number): number {
	const known = steps?.furthest.step ?? step;
	const made = Math.max(0, (before?.step ?? known) - known);
	return made === 0 ? 0 : made / (step - known);
}

function withStep(
	work: Work,
	step: WorkerStep,
	name: keyof Stages,
): RoundSteps {
	const { steps, last, at, before } = work;
	const kind = name === "start" ? kindOf(work, step) : name;
	const known = steps?.furthest;
	const wentBack = step.step < (last.get(step.worker) ?? step.step);
	const startsOver = wentBack || known?.startsOver || before?.startsOver;
	const isOther = known?.source !== step.source;
	const furthest = {
		step: isOther ? step.step : Math.max(known.step, step.step),
		source: step.source,
		...(startsOver && { startsOver }),
	};
	const isUnsure = kind === "unsure" || steps?.isUnsure;
	const newAt = steps?.newAt ?? (kind === "fresh" ? at : null);
	return {
		first: steps?.first ?? step.step,
		firstAt: steps?.firstAt ?? at,
		furthest,
		newAt,
		...(isUnsure && { isUnsure }),
	};
}

/** Something that workers have shown, and when. Milliseconds on the agent's steady clock. */
export interface WorkNews {
	readonly at: number;
	readonly apply: (work: Work) => Work;
}

/** Adds news in the order of their times: those of two workers are not heard in their order. */
export function insertNews(
	waiting: readonly WorkNews[],
	news: WorkNews,
): readonly WorkNews[] {
	const index = waiting.findLastIndex(({ at }) => at <= news.at) + 1;
	return [...waiting.slice(0, index), news, ...waiting.slice(index)];
}

export function applyNews(work: Work, news: readonly WorkNews[]): Work {
	return news.reduce((before, { apply }) => apply(before), work);
}

/** What a worker may say that it does. */
export type Announced = "saving" | "loading";

/** No time of any kind. */
export const NO_TIME: StageTime = { ms: 0, savingMs: 0, loadingMs: 0 };

/** Adds time, announced or not; while one worker saves and another loads, the node saves. */
export function withAnnounced(
	time: StageTime,
	announced: readonly { readonly kind: Announced }[],
	ms: number,
): StageTime {
	const kinds = new Set(announced.map(({ kind }) => kind));
	if (kinds.has("saving")) return { ...time, savingMs: time.savingMs + ms };
	if (kinds.has("loading")) return { ...time, loadingMs: time.loadingMs + ms };
	return time;
}

/** Adds two times, each kind for itself. */
export function sum(one: StageTime, other: StageTime): StageTime {
	return {
		ms: one.ms + other.ms,
		savingMs: one.savingMs + other.savingMs,
		loadingMs: one.loadingMs + other.loadingMs,
	};
}

/** Gives this part of what was not announced to steps that are made again. */
export function split(
	time: StageTime,
	part: number,
): { readonly again: StageTime; readonly rest: StageTime } {
	const ms = part * (time.ms - time.savingMs - time.loadingMs);
	return { again: { ...NO_TIME, ms }, rest: { ...time, ms: time.ms - ms } };
}
