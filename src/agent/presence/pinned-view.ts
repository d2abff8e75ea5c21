import type { Clock } from "../../base/clock.js";
import type { WorkerProgress } from "../../model/progress.js";
import type { Straggler } from "../../model/step.js";
import type { AgentState } from "../machine/state.js";
import {
	incidentOf,
	pinnedLines,
	type SeenIncident,
	standingLine,
	stepLine,
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
	private state: AgentState | undefined;
	private steps: string | undefined;
	private shown = "";

	constructor(private readonly options: PinnedViewOptions) {}

	/** Call it with each new state of the agent. */
	readonly follow = (state: AgentState): void => {
		const standing = standingLine(state);
		if (standing !== this.standing) {
			this.since = this.options.clock.wallTime();
			this.steps = undefined;
		}
		this.standing = standing;
		this.state = state;
		this.incident = incidentOf(state) ?? this.incident;
		this.show();
	};

	/** Call it about once a second while a round runs. */
	readonly followSteps = (
		workers: readonly WorkerProgress[],
		straggler: Straggler | undefined,
	): void => {
		const wallTime = this.options.clock.wallTime();
		this.steps = stepLine(workers, straggler, wallTime);
		this.show();
	};

	private show(): void {
		if (this.state === undefined) return;
		const lines = pinnedLines(
			...([this.options, this.state, this.incident, this.since] as const),
			this.steps,
		);
		const text = lines.join("\n");
		if (text !== this.shown) this.options.show(lines);
		this.shown = text;
	}
}
