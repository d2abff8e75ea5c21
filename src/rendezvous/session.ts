import type { Clock } from "../clock.js";
import { Candidacy } from "./candidacy.js";
import type { RunKeys } from "./keys.js";
import { LeaseGuard, type OnLeaseLost } from "./lease-guard.js";
import { LookLoop } from "./look-loop.js";
import { refuseForeign } from "./node-id-holder.js";
import { Picture } from "./picture.js";
import { decodeRecord, recordAt } from "./record-codec.js";
import {
	type AgentIdentity,
	type Intent,
	RecordWriter,
} from "./record-writer.js";
import type { RoundRecord, RunSpec, Seat } from "./records.js";
import type { RoundView } from "./round-view.js";
import type { Lease, Reader, Snapshot, Store, Watch } from "./store.js";
import type { WaitingRecord } from "./waiting.js";

/** How long a seat may stay unseen unless its round begins, in milliseconds. */
const SEAT_SEEN_WITHIN_MS = 1_000;

export interface SessionOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly keys: RunKeys;
	readonly lease: Lease;
	readonly identity: AgentIdentity;
	readonly spec: RunSpec;
	readonly reservePort: (claim: number) => Promise<number>;
	readonly random: () => number;
	readonly batchSize?: number | undefined;
	readonly onView: (view: RoundView) => void;
	/** Whether this is a later start of the run, in which this process has no part and says nothing. */
	readonly isForeign: (round: RoundRecord) => boolean;
	/** Told whenever it finds that the run itself is not in the store any more. */
	readonly onRunGone: () => void;
	/** Told once; the session has closed itself. */
	readonly onLost: OnLeaseLost;
	/** Told once: the agent's record stands under this session's lease. */
	readonly onStanding: () => void;
	readonly onError: (error: unknown) => void;
	readonly onPlanReason: (reason: string) => void;
}

/** What hangs on one lease of an agent: its record, its watch, its part in coordinating. */
export class Session {
	readonly candidacy: Candidacy;
	readonly guard: LeaseGuard;
	private readonly writer: RecordWriter;
	private readonly loop: LookLoop;
	private readonly picture: Picture;
	private watch: Watch | undefined;
	private seatWatch: Watch | undefined;
	private standing = false;
	/** Nothing is shown, so that no seat is taken, before the record stands. */
	private mustStand = false;
	/** What is wanted while a view is shown is written by the same look. */
	private showing = false;
	/** By when what is wanted is to be written. */
	private writeBy = 0;
	private closed = false;

	constructor(private readonly options: SessionOptions) {
		const { store, keys, identity } = options;
		const own: Reader = {
			selectors: keys.seenBy(identity.nodeId),
			take: (read) => {
				this.picture.offer(read);
				this.loop.hintAt(read.revision);
			},
		};
		this.picture = new Picture(store, () => own.selectors);
		const planner = () => this.candidacy.reader;
		this.writer = new RecordWriter({ ...options, own, planner });
		this.guard = new LeaseGuard(options.clock, options.lease, (...why) => {
			this.close();
			options.onLost(...why);
		});
		this.loop = new LookLoop({
			...options,
			seen: () => this.picture.revision,
			look: (atLeast) => this.look(atLeast),
			act: () => this.write(),
		});
		this.candidacy = new Candidacy({
			...options,
			...identity,
			config: options.spec,
			own,
			onFailed: () => this.loop.hint(),
			onReason: options.onPlanReason,
		});
	}

	get lease(): Lease {
		return this.options.lease;
	}

	/** From now on `onView` is told what is there, and each change of it. */
	start(): void {
		if (this.guard.check()) this.loop.hint();
	}

	/**
	 * What an earlier session was to say is said here first of all: an agent
	 * without a record has left its round, and must not start workers in it.
	 */
	takeOver(intent: Intent): void {
		this.mustStand = true;
		this.writer.want(intent);
	}

	want(intent: Intent | null): void {
		this.writer.want(intent);
		const { patienceMs } = this.writer;
		this.writeBy = this.options.clock.now() + patienceMs;
		if (!this.showing) this.loop.nudge(patienceMs);
	}

	/** Looks and writes no more; the lease is left as it is. */
	close(): void {
		this.closed = true;
		this.guard.close();
		this.loop.close();
		this.watch?.close();
		this.seatWatch?.close();
		this.candidacy.close();
	}

	private async look(atLeast: number): Promise<boolean> {
		const { keys, identity, onView } = this.options;
		const { nodeId, incarnation } = identity;
		const snapshot = await this.picture.look(atLeast);
		if (this.closed || !this.guard.check()) return false;
		this.watchFrom(snapshot);
		const own = snapshot.entries.get(keys.node(nodeId));
		if (own !== undefined) refuseForeign(own, identity);
		const roundEntry = snapshot.entries.get(keys.round);
		if (roundEntry === undefined) {
			this.options.onRunGone();
			return false;
		}
		const round = decodeRecord<RoundRecord>(roundEntry);
		const seat = recordAt<Seat>(snapshot, keys.seat(nodeId));
		const mine = seat?.incarnation === incarnation ? seat : null;
		if (this.options.isForeign(round)) {
			onView({ round, seat: null });
			return false;
		}
		const roundRevision = roundEntry.modRevision;
		this.writer.see({ round, roundRevision, present: own });
		const attend = () =>
			this.candidacy.attend(snapshot.entries.get(keys.coordinator), {
				round,
				seat: mine,
				isLeaving: this.writer.isLeaving,
			});
		if (this.mustStand) {
			await this.writeIfDue();
			if (!this.closed) attend();
			return !this.closed;
		}
		// What it does by the view may take a while.
		attend();
		const waiting = recordAt<WaitingRecord>(snapshot, keys.waiting);
		const { finishedPlan } = this.writer;
		this.show({ round, seat: mine, waiting, finishedPlan });
		return this.writeIfDue();
	}

	private async writeIfDue(): Promise<boolean> {
		const waitMs = this.writeBy - this.options.clock.now();
		if (waitMs <= 0) return this.write();
		this.loop.nudge(waitMs);
		return false;
	}

	/** Resolves with whether to look. */
	private async write(): Promise<boolean> {
		if (!this.guard.check()) return false;
		const again = await this.writer.write();
		if (!this.closed) this.tellOfStanding();
		return again && !this.closed;
	}

	private show(view: RoundView): void {
		this.showing = true;
		this.options.onView(view);
		this.showing = false;
	}

	private watchFrom({ revision }: Snapshot): void {
		const { store, keys, identity } = this.options;
		this.watch ??= store.watch(
			[keys.round, keys.coordinator],
			revision,
			(changed) => this.loop.hintAt(changed),
		);
		// Mostly a seat comes before the round that it is for.
		this.seatWatch ??= store.watch(
			[keys.seat(identity.nodeId)],
			revision,
			(changed) => this.loop.hintAt(changed, SEAT_SEEN_WITHIN_MS),
		);
	}

	private tellOfStanding(): void {
		if (this.standing || !this.writer.hasWritten) return;
		this.standing = true;
		this.mustStand = false;
		this.options.onStanding();
	}
}
