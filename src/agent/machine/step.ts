import type { Rule } from "../../policies/rules/rule.js";
import type { RestartPolicyStrategy } from "../../policies/strategy.js";
import type { AgentEffect } from "./inputs.js";
import type { AgentState } from "./state.js";

/** What the agent's decisions depend on besides its state. All times are on one clock, in milliseconds. */
export interface TransitionContext {
	readonly now: number;
	/** Milliseconds since 1970, for reports. */
	readonly wallTime: number;
	readonly runId: string;
	readonly nodeId: string;
	readonly incarnation: string;
	readonly policy: RestartPolicyStrategy;
	readonly maxRestarts: number;
	/** The window of `maxRestarts`, in milliseconds; 0 or absent: none. */
	readonly restartLimits?: { readonly windowMs: number } | undefined;
	/** Asked before the policy. */
	readonly rules: readonly Rule[];
	/** This process starts workers for one round only. Then it ends, for its supervisor to start it again. */
	readonly isRecreated: boolean;
	readonly shutdownTimeoutMs: number;
	/** How long a worker may take to acknowledge PAUSE. */
	readonly pauseTimeoutMs: number;
	/** The role of this agent's workers. */
	readonly role?: string | undefined;
	/** What restarts when a worker fails; default: all workers. */
	readonly failoverScope?: "run" | "role" | undefined;
}

export interface Transition {
	readonly state: AgentState;
	readonly effects: readonly AgentEffect[];
	/** Why, in words; empty if nothing was decided. */
	readonly reason: string;
}

/** Nothing changes. */
export function ignore(state: AgentState): Transition {
	return { state, effects: [], reason: "" };
}
