import type { Clock } from "../base/clock.js";
import type { Logger } from "../base/logger.js";
import { formatDuration } from "../base/units.js";
import { within } from "../base/within.js";
import type { StepsConfig } from "../config/index.js";
import type { FreeSpaceWatch } from "../logs/index.js";
import type { Hang, HangKind, StepSource } from "../model/index.js";
import {
	isRunning,
	type NodeProcess,
	type NodeState,
	type RunningNode,
	type StandstillJudge,
	type WorkerReaders,
} from "../steps/index.js";
import type { Finding, HangInquiry } from "./hang-inquiry.js";
import {
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

export interface HangWatchOptions {
	readonly clock: Clock;
	readonly log: Pick<Logger, "info">;
	readonly limits: Pick<StepsConfig, "hangMs" | "startMs">;
	/** The present worker processes. */
	readonly processes: () => readonly NodeProcess[];
	/** The steps of the present round. */
	readonly readers: WorkerReaders;
	readonly lostSteps: Pick<LostSteps, "look" | "until">;
	readonly inquiry: Pick<HangInquiry, "inquire">;
	/** Called once for each hang. */
	readonly onHang: (kind: HangKind) => void;
}

/** Judges whether a node's workers stand still, and has an inquiry made where they do. */
export class HangWatch implements StandstillJudge {
	private node: NodeState | undefined;
	/** The round that runs, and since when; undefined: none runs. */
	private round:
		| { readonly number: number; readonly since: number }
		| undefined;
	private countsSteps = false;
	private isInquiring = false;
	/** When this process last went on after it had been stopped. */
	private wokeAt = 0;
	/** What was found out about a standstill, which the last step before it names; undefined: none was made. */
	private finding:
		| (Finding & { readonly movedAt: number | undefined })
		| undefined;

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
		this.round = { number, since: this.options.clock.now() };
		this.finding = undefined;
	}

	get stillFrom(): number {
		return stillFrom(this.watched ?? [], this.options.limits) ?? 0;
	}

	get found(): { readonly hang: Hang | undefined } {
		const { movedAt } = this.options.readers;
		const isSame = this.finding?.movedAt === movedAt;
		return { hang: isSame ? this.finding?.hang : undefined };
	}

	check(lateMs: number): void {
		const { clock, readers, onHang } = this.options;
		const now = clock.now();
		const { movedAt } = readers;
		if (lateMs > STOPPED_MS) this.wokeAt = now;
		this.countsSteps ||= movedAt !== undefined;
		const round = this.round;
		const node = this.node;
		if (!isRunning(node) || round === undefined) return;
		this.tellSteps(round.number, movedAt);
		if (this.isInquiring || this.isJudged(movedAt, now)) return;
		if (this.standstillAt(now) === undefined) return;
		this.isInquiring = true;
		void this.inquire(node, round, movedAt).then(({ again, hang }) => {
			this.isInquiring = false;
			// It is about a round that is over.
			if (this.round !== round) return;
			const before =
				this.finding?.movedAt === movedAt ? this.finding?.hang : undefined;
			this.finding = { movedAt, again, hang: hang ?? before };
			if (hang !== undefined && before === undefined) onHang(hang.kind);
		});
	}

	/** Who has read that a round stands still wants to know that it does no longer. */
	private tellSteps(round: number, movedAt: number | undefined): void {
		const { hang, movedAt: before } = this.finding ?? {};
		if (hang === undefined || movedAt === before) return;
		this.finding = undefined;
		const { log, clock } = this.options;
		const stillMs = clock.wallTime() - hang.since;
		log.info(
			`round ${round}: steps come again, after ${formatDuration(stillMs)} without one`,
		);
	}

	/** Whether this standstill is not to be judged again yet. */
	private isJudged(movedAt: number | undefined, now: number): boolean {
		const known = this.finding;
		if (known === undefined || known.movedAt !== movedAt) return false;
		return known.again === undefined || now < known.again;
	}

	private async inquire(
		node: RunningNode,
		round: object,
		movedAt: number | undefined,
	): Promise<Finding> {
		const { lostSteps, clock, readers, inquiry } = this.options;
		// A disk may have filled up since it was last looked at, and have lost the steps.
		await lostSteps.look();
		const now = clock.now();
		const standstill = this.standstillAt(now);
		if (standstill === undefined) return { again: now, hang: undefined };
		return inquiry.inquire(standstill, node, {
			isOver: () => this.round !== round,
			goesOn: () => {
				readers.look();
				return readers.movedAt !== movedAt || readers.isBusy;
			},
		});
	}

	private standstillAt(now: number): Standstill | undefined {
		const watched = this.watched;
		if (watched === undefined) return undefined;
		return judgeStandstill(watched, this.options.limits, this.countsSteps, now);
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
