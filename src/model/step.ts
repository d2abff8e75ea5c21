import {
	fields,
	flag,
	type Infer,
	nullable,
	oneOf,
	optional,
} from "../base/shape.js";
import { anyNumber, count, duration, name, step, time } from "./value.js";

/** Where a worker's steps were learned, the best first. */
export const STEP_SOURCES = ["report", "hook", "output"] as const;
export type StepSource = (typeof STEP_SOURCES)[number];

/** `own-time`: until it waits for others; `arrival`: its report of a step, after that of the middle one of its node. */
export const PACE_KINDS = ["own-time", "arrival"] as const;

/** How slow a worker was in its last steps, in seconds a step. Only those of one kind can be compared. */
export type Pace = Infer<typeof pace>;

export const pace = fields({
	by: oneOf(...PACE_KINDS),
	/** Nearly all of these steps took at least so long … */
	least: anyNumber,
	usual: anyNumber,
	/** … and at most so long. */
	most: anyNumber,
});

/** The rank for which the others wait in each step. */
export type Straggler = Infer<typeof straggler>;

export const straggler = fields({
	rank: count,
	node: name,
	lostSecondsPerStep: duration,
	/** What all steps since then have lost to it. */
	lostSeconds: duration,
	/** Milliseconds since 1970. */
	since: time,
});

/** How long a node spent on one stage of a round, in milliseconds; the announced times are part of `ms`. */
export type StageTime = Infer<typeof stage>;

const stage = fields({
	ms: duration,
	savingMs: duration,
	loadingMs: duration,
});

/** How far a node has come, and how its steps are counted. */
export type Furthest = Infer<typeof furthest>;

export const furthest = fields({
	step,
	source: oneOf(...STEP_SOURCES),
	/** A worker's number went back within a round, so numbers do not tell how far a program is. */
	startsOver: optional(flag),
});

/** The steps of a node's workers in one round. Times are milliseconds since 1970. */
export type RoundSteps = Infer<typeof roundSteps>;

export const roundSteps = fields({
	first: step,
	furthest,
	firstAt: time,
	/** The first step that no earlier round had made; null if there is none, or if the numbers cannot be compared. */
	newAt: nullable(time),
	/** Its numbers cannot be compared with those of earlier rounds. */
	isUnsure: optional(flag),
});

/**
 * The stages of a round: until the first step; steps made again; new steps; steps whose numbers cannot be compared with
 * those of earlier rounds; and what was announced since the last step.
 */
export type Stages = Infer<typeof stages>;

export const stages = fields({
	start: stage,
	again: stage,
	fresh: stage,
	unsure: stage,
	open: stage,
});
