import type { Clock } from "../../base/clock.js";
import { timeOfDay } from "../../base/local-time.js";
import { formatCount, formatDuration, formatRate } from "../../base/units.js";
import { plainMessage } from "../../logs/index.js";
import type { Straggler, WorkerProgress } from "../../model/index.js";
import type { FailureRecord } from "../../rendezvous/index.js";
import {
	stepNoun,
	stragglerInWords,
	waitingInWords,
} from "../../status/index.js";
import type { AgentState } from "../machine/state.js";
import { isSpare } from "../machine/state.js";

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

/** The newest failure that ended a round, and why. */
interface SeenIncident {
	readonly reason: string;
	readonly root: FailureRecord;
}

/** The incident that a state shows; undefined if there is none. */
function incidentOf({ view }: AgentState): SeenIncident | undefined {
	const { root = null, reason = "" } = view?.round.cause ?? {};
	return root === null ? undefined : { reason, root };
}

/** This node's state in its run, in one line; undefined if there is nothing to show. */
export function standingLine(state: AgentState): string | undefined {
	const { view } = state;
	if (view === null || state.phase === "CLOSED") return undefined;
	const { synced, cause, world } = view.round;
	switch (state.phase) {
		case "RUNNING": {
			const { firstRank, localWorldSize } = state.seat;
			const last = firstRank + localWorldSize - 1;
			const ranks =
				localWorldSize === 1 ? `rank ${last}` : `ranks ${firstRank}-${last}`;
			const nodes = formatCount(world?.groupWorldSize ?? 1, "node");
			return `round ${state.round} runs: ${ranks} of ${world?.worldSize ?? 1}, on ${nodes}`;
		}
		case "STOPPING": {
			const why = state.leaving?.reason ?? cause.reason;
			return `ends its workers of round ${state.round}: ${view.round.outcome?.reason ?? why}`;
		}
		case "FINISHED":
			return `its workers have succeeded; round ${state.round} runs elsewhere`;
		case "JOINING":
			return isSpare(state)
				? `a spare: round ${synced} runs without this node`
				: `waits for round ${state.claim}`;
		default:
			return state satisfies never;
	}
}

/** How far the slowest of these workers has come, and whom all wait for; undefined before the first step. */
export function stepLine(
	workers: readonly WorkerProgress[],
	straggler: Straggler | undefined,
	wallTime: number,
): string | undefined {
	const left = workers.filter(({ ended }) => !ended);
	const [slowest] = (left.length > 0 ? left : workers).toSorted(
		(one, other) => one.step - other.step,
	);
	if (slowest === undefined) return undefined;
	const { step, rate, stepAt, source } = slowest;
	// In whole seconds, so that the line does not change more often than that.
	const seconds = Math.max(0, Math.floor((wallTime - stepAt) / 1_000));
	const often = rate === null ? "" : ` (${formatRate(rate)})`;
	const ago = seconds < 100 ? `${seconds} s` : formatDuration(seconds * 1_000);
	const slow = straggler ? `; ${stragglerInWords(straggler)}` : "";
	return `${stepNoun([source])} ${step}${often}, ${ago} ago${slow}`;
}

/**
 * The lines that stay in view while an agent lives: this node's state, what is awaited, and the last incident. Times are
 * times of day, so that a line changes only when something happens.
 * @param since milliseconds since 1970, since when `standingLine` has been the same
 * @param steps see `stepLine`
 */
function pinnedLines(
	name: { readonly runId: string; readonly nodeId: string },
	state: AgentState,
	incident: SeenIncident | undefined,
	since: number,
	steps?: string,
): readonly string[] {
	const standing = standingLine(state);
	const { view } = state;
	if (standing === undefined || view === null) return [];
	const { round, waiting } = view;
	const isAwaited =
		waiting?.instance === round.instance && waiting.round === round.synced + 1;
	return [
		`${name.runId} on ${name.nodeId}: ${standing}, since ${timeOfDay(since)}`,
		...(steps === undefined ? [] : [`  ${steps}`]),
		...(waiting && isAwaited
			? [
					`  ${waitingInWords({ ...waiting, until: null }, since)}${waiting.until === null ? "" : `, until ${timeOfDay(waiting.until)}`}`,
				]
			: []),
		...(incident
			? [
					`  last incident: ${incident.reason}, round ${incident.root.round}, ${timeOfDay(incident.root.timestamp)}`,
				]
			: []),
	].map(plainMessage);
}
