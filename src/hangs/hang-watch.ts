import type { Clock } from "../base/clock.js";
import type { Logger } from "../base/logger.js";
import { formatDuration } from "../base/units.js";
import { within } from "../base/within.js";
import type { StepsConfig } from "../config/index.js";
import type { FreeSpaceWatch } from "../logs/index.js";
import type { Hang, HangKind, StepSource } from "../model/index.js";
import { describeOomKills } from "../processes/index.js";
import {
	isRunning,
	type NodeProcess,
	type NodeState,
	type RunningNode,
	type StandstillJudge,
	type WorkerReaders,
} from "../steps/index.js";
import type { Finding, HangInquiry } from "./hang-inquiry.js";
import { hookPathsOf, readHook } from "./hook.js";
import {
	type BehindOthers,
	behindOthers,
	judgeStandstill,
	type Standstill,
	stillFrom,
	type WatchedWorker,
	watchedWorkers,
} from "./standstill.js";

/** An agent so late for a look, in milliseconds, was stopped itself, and so were its workers perhaps. */
const STOPPED_MS = 5_000;
/** The file system of an unreachable server answers late, and then tells nothing. */
const LOOK_WITHIN_MS = 1_000;
const NEVER = 0;

/** What names a standstill. */
type Still = Pick<Standstill, "movedAt" | "alone">;

export interface HangWatchOptions {
	readonly clock: Clock;
	readonly log: Pick<Logger, "info">;
	readonly limits: Pick<StepsConfig, "hangMs" | "startMs">;
	readonly processes: () => readonly NodeProcess[];
	/** The steps of the present round. */
	readonly readers: WorkerReaders;
	readonly lostSteps: Pick<LostSteps, "look" | "until">;
	readonly inquiry: Pick<HangInquiry, "inquire">;
	readonly readOomKills: () => number | undefined;
	/** Called once for each hang. */
	readonly onHang: (kind: HangKind) => void;
}

/** Judges whether a node's workers stand still, and has an inquiry made where they do. */
export class HangWatch implements StandstillJudge {
	private node: NodeState | undefined;
	/** The round that runs, and since when; undefined: none runs. */
	private round:
		| {
				readonly number: number;
				readonly since: number;
				readonly oomKills: number | undefined;
		  }
		| undefined;
	private countsSteps = false;
	private behind: BehindOthers = new Map();
	private isInquiring = false;
	/** When this process last went on after it had been stopped. */
	private wokeAt = 0;
	/** What was found out about a standstill, which its workers and their last step name; undefined: none was judged. */
	private finding: (Finding & Still) | undefined;

	constructor(private readonly options: HangWatchOptions) {}

	/** Takes each new state of the node. */
	follow(node: NodeState): void {
		this.node = node;
		const number = node.phase === "RUNNING" ? node.round : undefined;
		if (number === this.round?.number) return;
		if (number === undefined) {
			this.round = undefined;
			return;
		}
		const { clock, readOomKills } = this.options;
		this.round = { number, since: clock.now(), oomKills: readOomKills() };
		this.finding = undefined;
		this.behind = new Map();
	}

	get stillFrom(): number {
		return stillFrom(this.watched ?? [], this.options.limits) ?? 0;
	}

	get found(): { readonly hang: Hang | undefined } {
		const { finding } = this;
		const holds = finding && finding.movedAt === this.movedAt(finding.alone);
		return { hang: holds ? finding.hang : undefined };
	}

	/** When these workers last moved; default: any of them. */
	private movedAt(alone?: readonly number[]): number | undefined {
		const { processes, readers } = this.options;
		if (alone === undefined) return readers.movedAt;
		const times = processes()
			.filter(({ localRank }) => alone.includes(localRank))
			.flatMap((process) => readers.of(process).movement?.at ?? []);
		return times.length === 0 ? undefined : Math.max(...times);
	}

	check(lateMs: number): void {
		const { clock, readers, onHang } = this.options;
		const now = clock.now();
		if (lateMs > STOPPED_MS) this.wokeAt = now;
		this.countsSteps ||= readers.movedAt !== undefined;
		const round = this.round;
		const node = this.node;
		if (!isRunning(node) || round === undefined) return;
		this.reportSteps(round.number);
		const { behind, watched = [] } = this;
		this.behind = behindOthers(behind, watched, this.options.limits);
		const still = this.standstillAt(now);
		if (this.isInquiring || still === undefined) return;
		if (this.isJudged(still, now)) return;
		this.isInquiring = true;
		void this.inquire(node, round, still).then(({ again, hang }) => {
			this.isInquiring = false;
			// It is about a round that is over.
			if (this.round !== round) return;
			const before = this.foundBefore(still)?.hang;
			const { alone, movedAt } = still;
			this.finding = { movedAt, alone, again, hang: hang ?? before };
			if (hang !== undefined && before === undefined) onHang(hang.kind);
		});
	}

	/** Who has read that a round stands still wants to know that it does no longer. */
	private reportSteps(round: number): void {
		const { hang, alone, movedAt } = this.finding ?? {};
		if (hang === undefined || this.movedAt(alone) === movedAt) return;
		this.finding = undefined;
		const { log, clock } = this.options;
		const stillMs = clock.wallTime() - hang.since;
		log.info(
			`round ${round}: steps come again, after ${formatDuration(stillMs)} without one`,
		);
	}

	/** What was found out about this standstill. */
	private foundBefore(still: Standstill): Finding | undefined {
		return isSame(this.finding, still) ? this.finding : undefined;
	}

	/** Whether this standstill is not to be judged again yet. */
	private isJudged(still: Standstill, now: number): boolean {
		const known = this.foundBefore(still);
		if (known === undefined) return false;
		return known.again === undefined || now < known.again;
	}

	private async inquire(
		node: RunningNode,
		round: NonNullable<HangWatch["round"]>,
		seen: Standstill,
	): Promise<Finding> {
		const { lostSteps, clock, readers, inquiry, readOomKills } = this.options;
		// A disk may have filled up since it was last looked at, and have lost the steps.
		await lostSteps.look();
		const now = clock.now();
		const standstill = this.standstillAt(now);
		if (standstill === undefined || !isSame(standstill, seen)) {
			return { again: now, hang: undefined };
		}
		const { alone, movedAt } = standstill;
		return inquiry.inquire(standstill, node, {
			isOver: () => this.round !== round,
			goesOn: () => {
				readers.look();
				return this.movedAt(alone) !== movedAt || readers.isBusy;
			},
			killed: () =>
				describeOomKills({ before: round.oomKills, now: readOomKills() }),
		});
	}

	private standstillAt(now: number): Standstill | undefined {
		const watched = this.watched;
		if (watched === undefined) return undefined;
		const before = {
			behind: this.behind,
			countsSteps: this.countsSteps,
			usesGroups: () => this.usesGroups(),
		};
		return judgeStandstill(watched, this.options.limits, before, now);
	}

	private usesGroups(): boolean {
		return this.options
			.processes()
			.some((process) => readHook(hookPathsOf(process))?.processGroup);
	}

	private get watched(): readonly WatchedWorker[] | undefined {
		if (!isRunning(this.node) || this.round === undefined) return undefined;
		const { processes, readers, lostSteps } = this.options;
		return watchedWorkers(this.node.workers, processes(), readers, {
			since: this.round.since,
			wokeAt: this.wokeAt,
			lostUntil: (source) => lostSteps.until(source),
		});
	}
}

/** Whether two standstills are of the same workers, after the same step. */
function isSame(one: Still | undefined, other: Still): boolean {
	const areSame = String(one?.alone) === String(other.alone);
	return one !== undefined && areSame && one.movedAt === other.movedAt;
}

/** Steps that workers printed or reported while a disk was full: nobody sees them. */
export class LostSteps {
	/** @param place the file systems of the workers' output, and of their reports */
	constructor(
		private readonly place: {
			readonly clock: Clock;
			readonly logSpace: Pick<FreeSpaceWatch, "fullAt" | "look">;
			readonly channelSpace: Pick<FreeSpaceWatch, "fullAt" | "look">;
		},
	) {}

	/** Until when the steps of a worker may have been lost, on the clock; 0: never. */
	until(source: StepSource | undefined): number {
		const { logSpace, channelSpace } = this.place;
		const printed = logSpace.fullAt ?? NEVER;
		const reported = channelSpace.fullAt ?? NEVER;
		switch (source) {
			case "hook":
				// Its number has its place in the file from the beginning.
				return NEVER;
			case "report":
				return reported;
			case "output":
				return printed;
			case undefined:
				return Math.max(printed, reported);
		}
	}

	/** Looks at the disks now. Never rejects. */
	async look(): Promise<void> {
		const { clock, logSpace, channelSpace } = this.place;
		const looks = [logSpace, channelSpace].map((space) => space.look(true));
		await within(clock, LOOK_WITHIN_MS, Promise.all(looks));
	}
}
