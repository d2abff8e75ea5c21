import type { StepSource } from "./step.js";

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
export type StartKind = "warm" | "cold";

/** How many of a node's workers were forked with their imports in a round, and how many were not. */
export interface Starts {
	readonly warm: number;
	readonly cold: number;
	/** Why some were not. */
	readonly reason?: string | undefined;
	readonly kind?: ColdKind | undefined;
}

/** How a node's workers would start if a round began now. */
export interface NextStart {
	readonly start: "warm" | "importing" | "cold";
	/** Why not warm. */
	readonly reason?: string | undefined;
	/** How many modules its helper has imported. */
	readonly modules?: number | undefined;
	/** The helper's private memory after its imports. */
	readonly bytes?: number | undefined;
	/** How many processes wait for a place. */
	readonly waiting?: number | undefined;
}

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

/** What workers of one command import: docs/warm-restarts.md. */
export interface SharedModules {
	/** In the order of their import. */
	readonly modules: readonly string[];
	/** What such a worker has in memory. */
	readonly bytes: number;
}
