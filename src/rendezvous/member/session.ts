import type { Clock } from "../../base/clock.js";
import type {
	Lease,
	OnHint,
	Reader,
	Snapshot,
	Store,
	Watch,
} from "../../store/index.js";
import type { AgentIdentity, Intent } from "../records/intent.js";
import type { RunKeys } from "../records/keys.js";
import {
	decodeRecord,
	garbled,
	informationAt,
	recordAt,
} from "../records/record-codec.js";
import {
	RecordWriter,
	type Relay,
	type ReservePort,
} from "../records/record-writer.js";
import {
	ROUND,
	type RoundRecord,
	SEAT,
	type Seat,
} from "../records/records.js";
import type { RunSpec } from "../records/run-spec.js";
import type { RoundView } from "../records/run-view.js";
import { WAITING } from "../records/waiting-record.js";
import type { Coordinating } from "./coordinator.js";
import { refuseForeign } from "./join-run.js";
import { LeaderElection } from "./leader-election.js";
import { LeaseGuard, type OnLeaseLost } from "./lease-guard.js";
import { ReconcileLoop } from "./reconcile-loop.js";
import type { Ride } from "./ride.js";
import { type RoundLinks, RoundWatch } from "./round-watch.js";
import { SnapshotCache } from "./snapshot-cache.js";

/** How long a seat may stay unseen if its round does not begin, in milliseconds. */
const SEAT_SEEN_WITHIN_MS = 1_000;

/** Is notified by a session. */
interface SessionListener {
	readonly onView: (view: RoundView) => void;
	/** Called each time the run itself is missing from the store. */
	readonly onRunGone: () => void;
	/** Called once; the session has closed itself. */
	readonly onLost: OnLeaseLost;
	/** Called once: the agent's record is written under this session's lease. */
	readonly onStanding: () => void;
	readonly onError: (error: unknown) => void;
}

interface SessionOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly keys: RunKeys;
	readonly lease: Lease;
	readonly identity: AgentIdentity;
	readonly spec: RunSpec;
	readonly reservePort: ReservePort;
	readonly random: () => number;
	readonly coordinating: Coordinating;
	/** Its part in riding out an outage; undefined: it has none. */
	readonly ride: Ride | undefined;
	/** What it is told of the round instead of a watch of its own; undefined: nothing. */
	readonly links: RoundLinks | undefined;
	/** Writes records together with those of other agents; undefined: each goes alone. */
	readonly relay: Relay | undefined;
	/** Whether this is a later start of the run, in which this process has no part. */
	readonly isForeign: (round: RoundRecord) => boolean;
	readonly listener: SessionListener;
}

/** Everything that depends on one lease of an agent: its record, its watch, its part in the election. */
export class Session {
	readonly election: LeaderElection;
	readonly guard: LeaseGuard;
	private readonly writer: RecordWriter;
	private readonly loop: ReconcileLoop;
	private readonly cache: SnapshotCache;
	private readonly rounds: RoundWatch;
	private seatWatch: Watch | undefined;
	private standing = false;
	/** Shows no view, so that no seat is taken, before the record is written. */
	private mustStand = false;
	/** An intent set while a view is shown is written by the same look. */
	private showing = false;
	/** Of the last round. */
	private seats = 0;
	/** By when the intent must be written. */
	private writeBy = 0;
	private closed = false;

	constructor(private readonly options: SessionOptions) {
		const { store, keys, identity, listener } = options;
		const { onError } = listener;
		const own: Reader = {
			selectors: keys.seenBy(identity.nodeId),
			take: (read) => {
				this.cache.offer(read);
				this.loop.requestReadAt(read.revision);
			},
		};
		this.cache = new SnapshotCache(store, () => own.selectors);
		const planner = () => this.election.reader;
		this.writer = new RecordWriter({
			...{ ...options, own, planner },
			onWritten: (record) => this.cache.know(record),
		});
		const { ride, lease } = options;
		this.guard = new LeaseGuard(
			options.clock,
			lease,
			(...why) => {
				this.close();
				listener.onLost(...why);
			},
			ride && (() => ride.reliableUntil),
			() => ride?.look(),
		);
		this.loop = new ReconcileLoop({
			...options,
			onError,
			seen: () => this.cache.revision,
			agents: () => this.seats,
			look: (atLeast) => this.look(atLeast),
			act: () => this.write(),
		});
		this.rounds = new RoundWatch({
			...options,
			onHint: (...changed) => this.hint(0, ...changed),
			onMissed: () => this.loop.requestRead(),
		});
		this.election = new LeaderElection({
			...options,
			onError,
			config: options.spec,
			own,
			onFailed: () => this.loop.requestRead(),
		});
	}

	get lease(): Lease {
		return this.options.lease;
	}

	/** Whether its record is in the store, as far as it knows: without it, others take it for gone. */
	get isStanding(): boolean {
		return this.standing;
	}

	/** Whether the agent leaves the run, and could not say so in its record yet. */
	get leavesUnsaid(): boolean {
		return this.writer.leavesUnsaid;
	}

	/** Starts calling `onView` with the present view and each change. */
	start(): void {
		if (this.guard.check()) this.loop.requestRead();
	}

	/**
	 * Writes an earlier session's intent before anything else: an agent without a record has left its round, and must not
	 * start workers in it.
	 */
	takeOver(intent: Intent): void {
		this.mustStand = true;
		this.writer.want(intent);
	}

	want(intent: Intent | null): void {
		this.writer.want(intent);
		const { patienceMs } = this.writer;
		this.writeBy = this.options.clock.now() + patienceMs;
		if (!this.showing) this.loop.requestWrite(patienceMs);
	}

	/** Stops reading and writing; leaves the lease as it is. */
	close(): void {
		this.closed = true;
		this.guard.close();
		this.loop.close();
		this.rounds.close();
		this.seatWatch?.close();
		this.election.close();
	}

	private async look(atLeast: number): Promise<boolean> {
		const { keys, identity, coordinating } = this.options;
		const { nodeId } = identity;
		const snapshot = await this.cache.look(atLeast, (told) =>
			this.isEnough(told),
		);
		if (this.closed || !this.guard.check()) return false;
		this.rounds.after(snapshot);
		this.watchSeat(snapshot);
		const own = snapshot.entries.get(keys.node(nodeId));
		if (own !== undefined) refuseForeign(own, identity);
		if (own === undefined && this.standing && this.mayHaveEnded) {
			// It rides out an outage that is over: it stands again before it takes a seat.
			this.guard.lose("the store shows that this node's lease has ended");
			return false;
		}
		const roundEntry = snapshot.entries.get(keys.round);
		if (roundEntry === undefined) {
			this.options.listener.onRunGone();
			return false;
		}
		const round = decodeRecord(ROUND, roundEntry);
		this.seats = round.seats;
		const seat = ownSeat(snapshot, keys, identity);
		if (this.options.isForeign(round)) {
			this.options.listener.onView({ round, seat: null });
			return false;
		}
		const roundRevision = roundEntry.modRevision;
		this.writer.see({ round, roundRevision, present: own });
		this.options.ride?.see({ round, seat }, roundRevision);
		const attend = () =>
			this.election.onLeaderSeen(snapshot.entries.get(keys.coordinator), {
				round,
				seat,
				isLeaving: this.writer.isLeaving,
			});
		if (this.mustStand) {
			await this.writeIfDue();
			if (!this.closed) attend();
			return !this.closed;
		}
		// Acting on the view may take a while.
		attend();
		const { onSkipped } = coordinating;
		const waiting = informationAt(WAITING, snapshot, keys.waiting, onSkipped);
		const { finishedPlan, departure } = this.writer;
		this.show({ round, seat, waiting, finishedPlan, departure });
		return this.writeIfDue();
	}

	/** Only the other members, which confirm the round, let it rely on its lease. */
	private get mayHaveEnded(): boolean {
		const { clock, lease } = this.options;
		return lease.expiresAt <= clock.now();
	}

	private async writeIfDue(): Promise<boolean> {
		const waitMs = this.writeBy - this.options.clock.now();
		if (waitMs <= 0) return this.write();
		this.loop.requestWrite(waitMs);
		return false;
	}

	/** Resolves with whether to read. */
	private async write(): Promise<boolean> {
		if (!this.guard.check()) return false;
		try {
			const again = await this.writer.write();
			if (!this.closed) this.tellOfStanding();
			return again && !this.closed;
		} finally {
			if (!this.writer.isSure) this.cache.distrust();
		}
	}

	private show(view: RoundView): void {
		this.showing = true;
		this.options.listener.onView(view);
		this.showing = false;
	}

	/**
	 * Whether what watches have told is a view to act on. The store alone tells what became of a write, and that a round has
	 * no seat for this agent.
	 */
	private isEnough(told: Snapshot): boolean {
		const { keys, identity } = this.options;
		const round = recordAt(ROUND, told, keys.round);
		if (round === undefined) return false;
		if (round.deprecated >= round.synced) return true;
		const seat = ownSeat(told, keys, identity);
		return seat !== null && "planId" in seat && seat.planId === round.planId;
	}

	private hint(
		withinMs: number,
		...[revision, news]: Parameters<OnHint>
	): void {
		const isShown = news ? this.cache.hear(news) : false;
		if (isShown) this.loop.requestRead(withinMs);
		else if (isShown === false) this.loop.requestReadAt(revision, withinMs);
	}

	private watchSeat({ revision }: Snapshot): void {
		const { store, keys, identity } = this.options;
		// A seat usually comes before its round.
		this.seatWatch ??= store.watch(
			[keys.seat(identity.nodeId)],
			revision,
			(...changed) => this.hint(SEAT_SEEN_WITHIN_MS, ...changed),
		);
	}

	private tellOfStanding(): void {
		if (this.standing || !this.writer.hasWritten) return;
		this.standing = true;
		this.mustStand = false;
		this.guard.check();
		this.options.listener.onStanding();
	}
}

/**
 * This process's seat; null if it has none.
 * @throws ElasticRunError RENDEZVOUS_FAILED if it is unreadable, or has another size than this node
 */
export function ownSeat(
	snapshot: Pick<Snapshot, "entries">,
	keys: RunKeys,
	{ nodeId, incarnation, localWorldSize }: AgentIdentity,
): Seat | null {
	const key = keys.seat(nodeId);
	const seat = recordAt(SEAT, snapshot, key);
	if (seat?.incarnation !== incarnation) return null;
	if (!("planId" in seat) || seat.localWorldSize === localWorldSize)
		return seat;
	throw garbled(
		{ key },
		`its localWorldSize is ${seat.localWorldSize}, but must be this node's ${localWorldSize}`,
	);
}
