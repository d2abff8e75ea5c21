import type { Clock } from "../base/clock.js";
import type { HookPaths, ReceivedReply } from "../channel/index.js";
import type { HeldFile } from "../logs/index.js";
import type { Pace, StepSource } from "../model/index.js";
import { OwnTime } from "./pace.js";
import {
	HookPhase,
	HookSteps,
	OutputSteps,
	type ToldPhase,
	withoutControls,
} from "./sources.js";
import {
	type Movement,
	noteMove,
	noteStep,
	type SeenStep,
	type WorkerSteps,
} from "./worker-steps.js";

type Progress = ReceivedReply & { readonly kind: "PROGRESS" };

/** What a worker announces: that no step comes for so long, or with none of both that steps come again. */
export type Announcement = Partial<
	Pick<Progress, "kind" | "busy" | "for_seconds">
>;

/** What a worker does while no step comes. Times are on the agent's steady clock. */
export interface Busy {
	/** "saves a checkpoint". */
	readonly what: string;
	readonly since: number;
	readonly until: number;
}

/** What is read of one worker process. */
export interface ReaderOptions {
	readonly clock: Pick<Clock, "now" | "wallTime">;
	readonly pattern: RegExp;
	/** The hook's files; they may not exist. */
	readonly hookFiles: Pick<HookPaths, "steps" | "phase">;
	/** Its redirected output, and where in the files this process begins. */
	readonly outputs: readonly {
		readonly file: HeldFile;
		readonly startBytes: number;
	}[];
	/** Called with each new step. */
	readonly onStep?: ((steps: WorkerSteps) => void) | undefined;
	/** Called when the hook tells of a phase, or of its end. */
	readonly onPhase?: ((told: Announcement, at: number) => void) | undefined;
}

/** The most numbers that are kept of a report, and the longest name. */
const MOST_METRICS = 20;
const LONGEST_NAME = 60;
/** Of what a worker says that it is busy with, in characters. */
const LONGEST_BUSY = 60;
const NEVER = Number.NEGATIVE_INFINITY;
/** The hook's number has its place in a file; a report and a line of output need a new one. */
const SUREST_FIRST: readonly StepSource[] = ["hook", "report", "output"];
/** Fields of a report that are no figures of the training. */
const NO_METRICS = new Set(["sequence", "timestamp", "step", "for_seconds"]);

/** Follows the steps of one worker process, from all three sources. */
export class WorkerReader {
	private readonly hook: HookSteps;
	private readonly outputs: readonly OutputSteps[];
	/** The number that each source showed last: a kept worker's old number is no step of the new round. */
	private readonly last = new Map<StepSource, number>();
	private known: WorkerSteps | undefined;
	private moved: Movement | undefined;
	/** By its reports, until its next step. */
	private announced: Busy | undefined;
	/** By its hook, until its next step; once it is over it lasts until that moment. */
	private phase: Busy | undefined;
	/** The hook's present phase, as it says. */
	private told: ToldPhase | undefined;
	private readonly hookPhase: HookPhase;
	/** When it was last looked at. */
	private lookedAt: number | undefined;
	private readonly clock: ReaderOptions["clock"];
	private readonly ownTime = new OwnTime();

	constructor(private readonly options: ReaderOptions) {
		const { clock, pattern, hookFiles, outputs } = options;
		this.clock = clock;
		this.hook = new HookSteps(hookFiles.steps);
		this.hookPhase = new HookPhase(hookFiles.phase);
		this.outputs = outputs.map(
			({ file, startBytes }) => new OutputSteps(pattern, file, startBytes),
		);
	}

	/** Its steps in this round; undefined if it has made none. */
	get steps(): WorkerSteps | undefined {
		return this.known;
	}

	/** How slow it is by itself; undefined if that is not known. */
	get pace(): Pace | undefined {
		return this.ownTime.pace;
	}

	/** How it moves in this round; undefined if it has not. */
	get movement(): Movement | undefined {
		return this.moved;
	}

	/** The source that shows its steps surely, of those that have shown any, now or in earlier rounds. */
	get countedBy(): StepSource | undefined {
		return SUREST_FIRST.find((source) => this.last.has(source));
	}

	/** Until when it has announced that no step comes. */
	get busyUntil(): number {
		const { announced, phase } = this;
		return Math.max(announced?.until ?? NEVER, phase?.until ?? NEVER);
	}

	/** What it does now while no step comes. */
	busyAt(now: number): Busy | undefined {
		return [this.announced, this.phase].find(
			(one) => one !== undefined && one.until > now,
		);
	}

	/** The worker goes on in another round. */
	beginRound(): void {
		this.known = undefined;
		this.moved = undefined;
		this.announced = undefined;
		this.phase = undefined;
		this.ownTime.clear();
	}

	/** Takes a report; `now` on the agent's steady clock. */
	heard(progress: Progress, now: number): void {
		const { step, busy, for_seconds: seconds = 0 } = progress;
		if (step !== undefined && Number.isFinite(step)) {
			const metrics = metricsOf(progress);
			this.see({ source: "report", step: Math.trunc(step), metrics }, now);
		}
		if (busy === undefined) return;
		// A step made before this report must not be seen after it, and end what it announces.
		this.look(now);
		const what = `is busy: ${withoutControls(busy).slice(0, LONGEST_BUSY)}`;
		const since = this.announced?.what === what ? this.announced.since : now;
		this.announced = { what, since, until: now + seconds * 1_000 };
	}

	/** Looks at the hook's files and the output. */
	look(now: number): void {
		const counted = this.hook.read();
		if (counted !== undefined) {
			const at = this.timeOf(counted.madeAt, now);
			this.see({ source: "hook", step: counted.steps }, at);
			this.ownTime.note(counted);
		}
		this.lookAtPhase(now);
		this.lookedAt = now;
		// The output is searched only for want of something better.
		if (this.last.has("hook") || this.last.has("report")) return;
		for (const output of this.outputs) {
			const { first, last } = output.read() ?? {};
			if (last === undefined) continue;
			this.see({ source: "output", step: last }, now, first !== last);
		}
	}

	private lookAtPhase(now: number): void {
		const told = this.hookPhase.read();
		const isNew = told?.since !== this.told?.since;
		const isLonger = told?.until !== this.told?.until;
		this.told = told;
		if (told !== undefined) {
			// A wall clock that is set while it lasts changes nothing.
			if (!isNew && !isLonger && this.phase !== undefined) return;
			const ago = this.clock.wallTime() - now;
			const [since, until] = [told.since - ago, told.until - ago];
			this.phase = { what: told.what, since, until };
		} else if (isNew && this.phase !== undefined) {
			// Until its next step the time counts from here.
			const until = Math.min(now, this.phase.until);
			this.phase = { ...this.phase, until };
		}
		// What it has reported itself says more, and lasts.
		if (!isNew || this.announced !== undefined) return;
		const seconds = told && (told.until - told.since) / 1_000;
		const said = told ? { busy: told.what, for_seconds: seconds } : {};
		const at = told ? (this.phase?.since ?? now) : now;
		this.options.onPhase?.(said, Math.min(now, at));
	}

	/** The steady time of a step that is seen `now`: it was made after the last look. */
	private timeOf(madeAt: number, now: number): number {
		const at = this.clock.now() - (this.clock.wallTime() - madeAt);
		return Math.min(now, Math.max(this.lookedAt ?? now, at));
	}

	/** @param counts it has shown several numbers since the last look */
	private see(seen: SeenStep, now: number, counts = false): void {
		const { source, step } = seen;
		const before = this.last.get(source);
		this.last.set(source, step);
		const isOld = this.known === undefined && before === step;
		if (isOld) return;
		const known = this.known;
		this.known = noteStep(known, seen, now);
		const isNew =
			this.known.step !== known?.step || this.known.source !== known.source;
		if (isNew) this.options.onStep?.(this.known);
		// Each source tells that the worker lives, not only the one whose numbers are shown. But a first number in the output
		// may be any text: a program that only says where it begins counts no steps.
		const isMove = before === undefined ? source !== "output" : before !== step;
		if (isMove || counts) this.move(now);
	}

	private move(now: number): void {
		this.moved = noteMove(this.moved, now, this.busyUntil !== NEVER);
		this.announced = undefined;
		this.phase = undefined;
	}
}

/** Undefined if the report has no figures; of one that is no number, which JSON writes as null, it has none. */
function metricsOf(progress: Progress): SeenStep["metrics"] {
	const figures = Object.entries(progress).filter(
		([name, value]) =>
			(value === null || Number.isFinite(value)) &&
			name.length <= LONGEST_NAME &&
			!NO_METRICS.has(name),
	);
	const numbers = figures.filter(
		(entry): entry is [string, number] => entry[1] !== null,
	);
	return figures.length === 0
		? undefined
		: Object.fromEntries(numbers.slice(0, MOST_METRICS));
}
