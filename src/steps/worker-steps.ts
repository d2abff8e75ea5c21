import { STEP_SOURCES, type StepSource } from "../model/index.js";

/** A step number as one of the sources shows it. */
export interface SeenStep {
	readonly source: StepSource;
	readonly step: number;
	/** The numbers reported with it. */
	readonly metrics?: Readonly<Record<string, number>> | undefined;
}

interface Sample {
	readonly step: number;
	readonly at: number;
}

/** The steps of one worker process. Times are milliseconds on the agent's steady clock. */
export interface WorkerSteps {
	/** The best source that has shown a step. */
	readonly source: StepSource;
	readonly step: number;
	/** When the number last changed. */
	readonly at: number;
	readonly firstAt: number;
	readonly firstStep: number;
	readonly metrics: Readonly<Record<string, number>> | undefined;
	/** It has gone back in this round, as where each epoch is counted from 0: its steps do not show how far it is. */
	readonly startsOver: boolean;
	/** Earlier steps, oldest first, from which the rate is computed. */
	readonly recent: readonly Sample[];
}

/** The rate is that of about this time, in milliseconds, from samples at least so far apart. */
const RATE_WINDOW_MS = 30_000;
const SAMPLE_EVERY_MS = 1_000;

/**
 * Takes a step number. A better source replaces a worse one for good, and a worse one is not heard. Only a changed number
 * is progress; a lower one is, too, because a program may count each epoch from 0.
 */
export function noteStep(
	before: WorkerSteps | undefined,
	{ source, step, metrics }: SeenStep,
	at: number,
): WorkerSteps {
	if (before === undefined || isBetter(source, before.source)) {
		return {
			source,
			step,
			at,
			metrics,
			firstAt: before?.firstAt ?? at,
			firstStep: step,
			startsOver: false,
			recent: [{ step, at }],
		};
	}
	if (isBetter(before.source, source)) return before;
	if (step === before.step) {
		return metrics === undefined ? before : { ...before, metrics };
	}
	return {
		...before,
		step,
		at,
		metrics: metrics ?? before.metrics,
		startsOver: before.startsOver || step < before.step,
		recent: step < before.step ? [{ step, at }] : sampled(before, { step, at }),
	};
}

/** Steps a second, up to now if no step has come for longer than usual; null before the second step. */
export function stepRate(
	{ recent, step, at }: WorkerSteps,
	now: number,
): number | null {
	const [oldest] = recent;
	if (oldest === undefined || step === oldest.step) return null;
	const steps = step - oldest.step;
	const usualMs = (at - oldest.at) / steps;
	const until = now - at > 2 * usualMs ? now : at;
	return until > oldest.at ? (steps * 1_000) / (until - oldest.at) : null;
}

function isBetter(one: StepSource, other: StepSource): boolean {
	return STEP_SOURCES.indexOf(one) < STEP_SOURCES.indexOf(other);
}

function sampled({ recent }: WorkerSteps, newest: Sample): readonly Sample[] {
	const last = recent.at(-1);
	if (last !== undefined && newest.at - last.at < SAMPLE_EVERY_MS) {
		return recent;
	}
	const from = newest.at - RATE_WINDOW_MS;
	// The newest of the older ones is where the window begins.
	const begin = recent.findLastIndex(({ at }) => at <= from);
	return [...recent.slice(Math.max(0, begin)), newest];
}

/** When a worker last moved, from whatever source. Times are milliseconds on the agent's steady clock. */
export interface Movement {
	readonly at: number;
	/** How often it has moved in this round. */
	readonly moves: number;
	/** The longest time from one move to the next that was not announced; 0 before the second. */
	readonly longestMs: number;
}

/** @param wasAnnounced it had said that no step comes for so long */
export function noteMove(
	before: Movement | undefined,
	at: number,
	wasAnnounced: boolean,
): Movement {
	if (before === undefined) return { at, moves: 1, longestMs: 0 };
	const { moves, longestMs } = before;
	const tookMs = wasAnnounced ? 0 : at - before.at;
	return { at, moves: moves + 1, longestMs: Math.max(longestMs, tookMs) };
}
