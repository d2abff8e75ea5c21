// How often to save. Pure: times come in as arguments, in milliseconds.
import { ElasticRunError } from "../base/errors.js";

/** The assumed history of a new run: one interruption in an hour. */
const FIRST_GUESS_MS = 3_600_000;

/**
 * The time between two checkpoints that loses the least work, by Young and Daly: W = sqrt(2 · μ · C).
 * `meanTimeBetweenFailuresMs` (μ) is that of one worker; any of `workers` may fail, so the whole fails every μ / workers.
 * `checkpointMs` (C) is how long one save takes.
 */
export function youngDalyIntervalMs(
	meanTimeBetweenFailuresMs: number,
	checkpointMs: number,
	workers = 1,
): number {
	requireNumber(
		"meanTimeBetweenFailuresMs",
		meanTimeBetweenFailuresMs,
		Number.MIN_VALUE,
	);
	requireNumber("checkpointMs", checkpointMs, 0);
	requireNumber("workers", workers, 1);
	return Math.sqrt(2 * (meanTimeBetweenFailuresMs / workers) * checkpointMs);
}

/** An interval in whole steps, at least 1. It is rounded down, because saving too often is the cheaper mistake. */
export function stepsBetweenCheckpoints(
	intervalMs: number,
	stepMs: number,
): number {
	requireNumber("intervalMs", intervalMs, 0);
	requireNumber("stepMs", stepMs, 0);
	return intervalMs <= stepMs ? 1 : Math.floor(intervalMs / stepMs);
}

/** A run's own interruptions so far. */
export interface InterruptionHistory {
	/** How long the run has been watched, in milliseconds. */
	readonly observedMs: number;
	/** How often it was interrupted in that time. */
	readonly interruptions: number;
}

/**
 * The mean time between a run's interruptions. It adds one interruption in one hour to the observed ones, so that a young
 * run has a figure as well and two failures in a row do not make it save all the time.
 */
export function meanTimeBetweenInterruptionsMs(
	history: InterruptionHistory,
): number {
	return (
		(FIRST_GUESS_MS + Math.max(0, history.observedMs)) /
		(1 + history.interruptions)
	);
}

/** Measures steps and saves, and tells when the next save is due. */
export class CheckpointCadence {
	private readonly maxSteps: number;
	private lastSavedStep = 0;
	private saves = 0;
	private savingMs = 0;
	private first: { readonly step: number; readonly at: number } | undefined;
	private learntSteps: number | undefined;

	/** `maxSteps` limits the number of steps between two saves. */
	constructor(maxSteps: number) {
		this.maxSteps = maxSteps;
	}

	/** The steps between two saves, as last decided; undefined until one save and one step were measured. */
	get everySteps(): number | undefined {
		return this.learntSteps;
	}

	/** The state of this step is already safe on disk. */
	restored(step: number): void {
		this.lastSavedStep = step;
	}

	saved(step: number, tookMs: number): void {
		this.lastSavedStep = step;
		this.saves += 1;
		this.savingMs += tookMs;
	}

	/** Whether the state of this step, or of a later one, is on disk. */
	isSaved(step: number): boolean {
		return step <= this.lastSavedStep;
	}

	/**
	 * Whether to save after this step. The first step is always saved: that measures a save, and detects a bad directory
	 * while there is nothing to lose.
	 */
	isDue(step: number, now: number, meanTimeMs: number): boolean {
		this.first ??= { step, at: now - this.savingMs };
		if (step <= this.lastSavedStep) return false;
		if (this.saves === 0) return true;
		const steps = step - this.first.step;
		if (steps > 0) {
			const trainingMs = now - this.first.at - this.savingMs;
			this.learntSteps = this.decide(trainingMs / steps, meanTimeMs);
		}
		const every = this.learntSteps ?? this.maxSteps;
		return step - this.lastSavedStep >= every;
	}

	private decide(stepMs: number, meanTimeMs: number): number {
		const checkpointMs = this.savingMs / this.saves;
		const intervalMs = youngDalyIntervalMs(meanTimeMs, checkpointMs);
		const steps = stepsBetweenCheckpoints(intervalMs, Math.max(0, stepMs));
		return Math.min(this.maxSteps, steps);
	}
}

function requireNumber(name: string, value: number, least: number): void {
	if (Number.isFinite(value) && value >= least) return;
	throw new ElasticRunError(
		"CHECKPOINT",
		`${name} is ${value}: give a finite number ${least === Number.MIN_VALUE ? "above 0" : `from ${least} up`}.`,
	);
}
