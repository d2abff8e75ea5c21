import type { LeftModule, SetVariable } from "./warm-messages.js";

/** What helpers leave to the workers, and what the workers had set by that. */
export interface LeftOut {
	readonly leaveOut: readonly LeftModule[];
	readonly sets: readonly SetVariable[];
}

/** Collects what helpers could not import ahead. */
export class LeftOutModules {
	private readonly modules = new Map<string, LeftModule>();
	private readonly sets = new Map<string, SetVariable>();

	get known(): LeftOut {
		const leaveOut = [...this.modules.values()];
		return { leaveOut, sets: [...this.sets.values()] };
	}

	/** Returns whether this is news. */
	add({ leaveOut, sets }: LeftOut): boolean {
		const before = this.modules.size;
		for (const one of leaveOut) this.modules.set(one.module, one);
		for (const one of sets) this.sets.set(one.variable, one);
		return this.modules.size > before;
	}
}
