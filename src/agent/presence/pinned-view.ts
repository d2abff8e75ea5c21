import type { Clock } from "../../base/clock.js";
import type { AgentState } from "../machine/state.js";
import {
	incidentOf,
	pinnedLines,
	type SeenIncident,
	standingLine,
} from "./pinned-lines.js";

export interface PinnedViewOptions {
	readonly clock: Clock;
	readonly runId: string;
	readonly nodeId: string;
	/** Called with the lines in view whenever they change. */
	readonly show: (lines: readonly string[]) => void;
}

/** Updates the lines in view from the agent's state. It has no timer. */
export class PinnedView {
	private standing: string | undefined;
	private since = 0;
	private incident: SeenIncident | undefined;
	private shown = "";

	constructor(private readonly options: PinnedViewOptions) {}

	/** Call it with each new state of the agent. */
	readonly follow = (state: AgentState): void => {
		const { clock, show } = this.options;
		const standing = standingLine(state);
		if (standing !== this.standing) this.since = clock.wallTime();
		this.standing = standing;
		this.incident = incidentOf(state) ?? this.incident;
		const lines = pinnedLines(this.options, state, this.incident, this.since);
		const text = lines.join("\n");
		if (text !== this.shown) show(lines);
		this.shown = text;
	};
}
