import { fields, type Infer, oneOf, optional } from "../base/shape.js";
import type { StepSource } from "./step.js";
import { count, words } from "./value.js";

/** Why a worker is started cold, in classes: docs/warm-restarts.md. */
export const COLD_KINDS = [
	"first",
	"not-ready",
	"ended",
	"refused",
	"changed",
	"command",
	"machine",
	"memory",
	"failing",
] as const;
export type ColdKind = (typeof COLD_KINDS)[number];

/** Warm: its process was forked with its imports, or had started before the worker had a place. */
export type StartKind = Infer<typeof startKind>;

export const startKind = oneOf("warm", "cold");

/** What workers of one command import: docs/warm-restarts.md. */
export interface SharedModules {
	/** In the order of their import. */
	readonly modules: readonly string[];
	/** What such a worker has in memory. */
	readonly bytes: number;
}

/** How many of a node's workers were forked with their imports in a round, and how many were not. */
export type Starts = Infer<typeof starts>;

export const starts = fields({
	warm: count,
	cold: count,
	/** Why some were not. */
	reason: optional(words),
	kind: optional(oneOf(...COLD_KINDS)),
});

/** How a node's workers would start if a round began now. */
export type NextStart = Infer<typeof nextStart>;

export const nextStart = fields({
	start: oneOf("warm", "importing", "cold"),
	/** Why not warm. */
	reason: optional(words),
	/** How many modules its helper has imported. */
	modules: optional(count),
	/** The helper's private memory after its imports. */
	bytes: optional(count),
	/** How many processes wait for a place. */
	waiting: optional(count),
});

/** Knows how a node's workers were started, and how the next ones will be. */
export interface StartSource {
	/** Undefined if none was started in this round. */
	startsIn(round: number): Starts | undefined;
	readonly next: NextStart;
	/** Called when either has changed. */
	onChange: () => void;
	/** A worker has made a step. */
	stepped(pid: number, source: StepSource): void;
}
