import { isUnreachable, retry } from "../../base/back-off.js";
import type { Clock } from "../../base/clock.js";
import { ElasticRunError } from "../../base/errors.js";
import type { Lease, Store } from "../../store/index.js";
import type { AgentIdentity, Intent } from "../records/intent.js";
import { RunKeys } from "../records/keys.js";
import { onceEach } from "../records/record-codec.js";
import type { ReservePort } from "../records/record-writer.js";
import type { RoundRecord } from "../records/records.js";
import type { RunSpec } from "../records/run-spec.js";
import type { RoundView } from "../records/run-view.js";
import type { Coordinating } from "./coordinator.js";
import { endLeaseOfDead, leftWrite, type NodeProcess } from "./end-dead.js";
import { type JoinedRun, type Joining, joinRun } from "./join-run.js";
import { LeaseGuard, type OnLeaseLost } from "./lease-guard.js";
import { type RecordLinks, RecordRelay } from "./record-relay.js";
import { Ride, type RideLinks, type Riding } from "./ride.js";
import type { RoundLinks } from "./round-watch.js";
import { Session } from "./session.js";

export type { RoundView } from "../records/run-view.js";

/** Is notified about the run from the start of a membership on. */
export interface MembershipListener {
	/** Called with the present view and each change. */
	readonly onView: (view: RoundView) => void;
	/** Its workers must be dead by the given time. Meanwhile it rejoins by itself. */
	readonly onLost: OnLeaseLost;
	/** Called with the time to live of its leases from now on, in milliseconds: the last one was too short. */
	readonly onLongerLease: (ttlMs: number) => void;
	/** Called with the error that ends this agent's part in the run. */
	readonly onError: (error: unknown) => void;
}

/** How long to retry an unreachable store at the start, unless the join time-out is shorter. */
const START_PATIENCE_MS = 30_000;

/** The longest lease that a node takes, as a multiple of the run's. A node's end is noticed that much later. */
const LONGEST_LEASE = 8;
/** A lease that has lived for so many times its time to live was long enough. */
const CALM = 60;

export interface MembershipOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly runId: string;
	readonly identity: AgentIdentity;
	readonly spec: RunSpec;
	/** Reserves a free port on this node, bound until its workers start. */
	readonly reservePort: ReservePort;
	/** A number in [0, 1) by which agents spread their tries. */
	readonly random: () => number;
	readonly coordinating: Coordinating;
	/** Its connections to the run's other agents; undefined: its rounds end when the store is away. */
	readonly links?: (RideLinks & RecordLinks & RoundLinks) | undefined;
	/** From so many nodes of a round on, agents with links write their records together; default: 33. */
	readonly relayedFrom?: number | undefined;
	/** Receives what happens while the store is away, in words. */
	readonly onRide?: ((words: string) => void) | undefined;
}

/**
 * One agent's part in its run, across all of its sessions with the store. It keeps the intended record, and replaces a
 * lost lease.
 */
export class Membership {
	private readonly options: MembershipOptions;
	private readonly keys: RunKeys;
	private session: Session | undefined;
	private intent: Intent | null = null;
	/** How long its next lease lives, in milliseconds. */
	private leaseTtlMs: number;
	private openedAt = 0;
	/** Leases that this agent has given up. They may live on in the store and hold the record. */
	private lostLeases: readonly Lease[] = [];
	/** The start of the run that this process joined: the first view may show a later one. */
	private instance: number | undefined;
	private lastView: RoundView | undefined;
	/** It has seen how the run ended, or that its store was set back. */
	private isOver = false;
	private readonly ride: Ride | undefined;
	private readonly relay: RecordRelay | undefined;
	/** Watches the confirmations of the members between two sessions. */
	private rideGuard: LeaseGuard | undefined;
	private listener: MembershipListener | undefined;
	private closed = false;

	constructor(options: MembershipOptions) {
		this.keys = new RunKeys(options.runId);
		const { coordinating } = options;
		const onSkipped = onceEach(coordinating.onSkipped);
		this.options = { ...options, coordinating: { ...coordinating, onSkipped } };
		this.leaseTtlMs = options.spec.leaseTtlMs;
		this.ride = this.openRide();
		this.relay = this.openRelay();
	}

	/** How its round goes on without the store; undefined: it does not. */
	get riding(): Riding | undefined {
		return this.ride?.riding;
	}

	private openRide(): Ride | undefined {
		const { links, clock, spec, identity, onRide = () => {} } = this.options;
		const { rideOutMs = 0, leaseTtlMs, maxNodes } = spec;
		if (links === undefined || rideOutMs === 0) return undefined;
		return new Ride({
			...{ clock, links, leaseTtlMs, rideOutMs },
			incarnation: identity.incarnation,
			ridesAlone: maxNodes === 1,
			lease: () => (this.session?.isStanding ? this.session.lease : undefined),
			onReleased: () => this.session?.election.lookAgain(),
			tell: onRide,
		});
	}

	private openRelay(): RecordRelay | undefined {
		const { options, keys } = this;
		const { links, spec } = options;
		const { leaseTtlMs } = spec;
		return links && new RecordRelay({ ...options, links, keys, leaseTtlMs });
	}

	/**
	 * Opens a lease, and joins or begins the run. Resolves with its instance, with the outcome of a run that has just
	 * ended, or with the holder of a tentative node id. Shows no views yet.
	 * @throws ElasticRunError STORE_UNREACHABLE if the store does not answer in time, RENDEZVOUS_FAILED if the node id is
	 * taken or the settings differ
	 */
	async join(joining: Joining): Promise<JoinedRun> {
		const joined = await this.retryFor(
			Math.min(START_PATIENCE_MS, this.options.spec.joinTimeoutMs),
			async () => {
				this.refuseClosed();
				this.session ??= await this.openSession();
				const { election, lease } = this.session;
				const { options, keys } = this;
				return joinRun({ ...options, ...joining, keys, election, lease });
			},
		);
		if ("instance" in joined) this.instance = joined.instance;
		return joined;
	}

	start(listener: MembershipListener): void {
		this.listener = listener;
		if (this.session === undefined) this.rejoin();
		else this.session.start();
	}

	/**
	 * Writes this intent to the record, now or as soon as possible. A later intent replaces it; null cancels what is not
	 * written yet.
	 */
	publish(intent: Intent | null): void {
		this.intent = intent;
		if (intent?.state === "leaving") this.ride?.leave();
		this.session?.want(intent);
	}

	/** The present lease; undefined between two sessions. */
	get lease(): Lease | undefined {
		return this.session?.lease;
	}

	/** Looks at the clock: whether its lease is reliable now. If not, `onLost` has been called. */
	holdsLease(): boolean {
		return this.session?.guard.check() ?? false;
	}

	/**
	 * Ends the lease of an agent that is certainly dead and has left no worker: nobody waits until it expires. Resolves with
	 * whether it held one. An unreachable store is tried until nobody waits for that any more.
	 */
	endLeaseOfDead(dead: NodeProcess): Promise<boolean> {
		const { store, spec } = this.options;
		const { leaseTtlMs, rideOutMs = 0 } = spec;
		return this.retryFor(
			LONGEST_LEASE * leaseTtlMs + rideOutMs,
			async () => !this.closed && endLeaseOfDead(store, this.keys, dead),
		);
	}

	/** Gives up its leases: the record and the coordinator's key vanish at once. Call it when no worker is left. */
	async close(): Promise<void> {
		this.closed = true;
		this.ride?.close();
		this.rideGuard?.close();
		this.session?.close();
		// The word comes first: who finds no record then knows why.
		const said = this.sayLeft().finally(() => this.session?.lease.revoke());
		await Promise.all([said, this.revokeLost()]);
	}

	/** Who goes on need not wait for a member that has seen the run's end, or whose record was too late to say that it leaves. */
	private async sayLeft(): Promise<void> {
		const { ride, session, keys, options } = this;
		const isOfPlan = this.lastView?.seat != null;
		const isDue = this.isOver || session?.leavesUnsaid;
		if (!isDue || !isOfPlan || ride === undefined) return;
		if (!session?.guard.isReliable) return;
		await options.store.transaction([], [leftWrite(keys, options.identity)]);
	}

	private async openSession(ttlMs = this.leaseTtlMs): Promise<Session> {
		const { store, clock, spec, identity } = this.options;
		this.refuseClosed();
		let session: Session | undefined;
		const events = {
			onLost: (reason: string) => session?.guard.lose(reason),
			onKeepalive: () => session?.guard.check(),
		};
		// A longer lease must not hide from the others that the store is away.
		const lease = await store.openLease(ttlMs, events, spec.leaseTtlMs);
		this.openedAt = clock.now();
		session = new Session({
			...this.options,
			keys: this.keys,
			lease,
			ride: this.ride,
			relay: this.relay,
			links: this.options.links,
			identity:
				ttlMs > spec.leaseTtlMs ? { ...identity, leaseTtlMs: ttlMs } : identity,
			isForeign: ({ instance }) => instance !== this.instance,
			listener: {
				onView: (view) => this.show(view),
				onRunGone: () => this.endWithoutRun(runGone()),
				onError: (error) => this.report(error),
				onLost: (reason, fenceAt) => this.lose(lease, reason, fenceAt),
				onStanding: () => {
					this.rideGuard?.close();
					this.rideGuard = undefined;
					this.revokeLost().catch((error) => this.report(error));
				},
			},
		});
		return session;
	}

	private show(view: RoundView): void {
		const newest = this.lastView?.round;
		if (newest && isOlder(view.round, newest)) {
			this.isOver = true;
			this.endWithoutRun(setBack(view.round, newest));
			return;
		}
		this.lastView = view;
		const { instance, outcome } = view.round;
		this.isOver = instance === this.instance && outcome !== null;
		this.listener?.onView({ ...view, joined: this.instance });
	}

	private endWithoutRun(why: ElasticRunError): void {
		if (this.lastView === undefined) this.report(why);
		else this.listener?.onView(endedView(this.lastView, why));
	}

	private lose(lease: Lease, reason: string, fenceAt: number): void {
		this.lostLeases = [...this.lostLeases, lease];
		this.session = undefined;
		if (this.listener === undefined) return;
		// Where it rides already, that guard reports the end itself.
		const { rideGuard } = this;
		rideGuard?.check();
		const goesOn = rideGuard !== undefined || this.goesOn();
		const hasLapsed = !goesOn && this.endRound(reason, fenceAt);
		this.rejoin(hasLapsed ? this.options.clock.now() : undefined);
	}

	/** Returns whether the store was there until now. */
	private endRound(...[reason, fenceAt]: Parameters<OnLeaseLost>): boolean {
		const why = this.ride?.end();
		this.listener?.onLost(why ?? reason, fenceAt);
		return why === undefined;
	}

	/** Whether its workers run on although its lease has ended, because the members of its round confirm it. */
	private goesOn(): boolean {
		const { ride } = this;
		if (ride === undefined) return false;
		const { clock, spec } = this.options;
		const guard = new LeaseGuard(
			clock,
			{ ttlMs: spec.leaseTtlMs, expiresAt: Number.NEGATIVE_INFINITY },
			(...why) => {
				this.rideGuard = undefined;
				this.endRound(...why);
			},
			() => ride.reliableUntil,
		);
		if (!guard.isReliable) return false;
		this.rideGuard = guard;
		return guard.check();
	}

	/**
	 * Opens a new lease and writes the record under it: same node id, same incarnation.
	 * @param lostAt when the last one was lost; undefined: the store was away before
	 */
	private rejoin(lostAt?: number): void {
		const attempt = async () => {
			const ttlMs =
				lostAt === undefined ? this.leaseTtlMs : this.ttlAfterLapse(lostAt);
			const session = await this.openSession(ttlMs);
			if (this.closed) return session.lease.revoke();
			this.session = session;
			if (ttlMs > this.leaseTtlMs) this.listener?.onLongerLease(ttlMs);
			this.leaseTtlMs = ttlMs;
			if (this.intent) session.takeOver(this.intent);
			session.start();
		};
		const { joinTimeoutMs, rideOutMs = 0 } = this.options.spec;
		const patienceMs = joinTimeoutMs + (this.rideGuard ? rideOutMs : 0);
		const tried = this.retryFor(patienceMs, attempt, { evenHopeless: true });
		tried.catch((error) => this.report(error));
	}

	/**
	 * A store that answers soon after a lapse was not away: the lease was too short for this machine or its store. Doubling
	 * it ends the lapses of an overloaded machine after a few rounds, whatever slows it down. A lapse after a long calm is an
	 * accident, as of a machine that was suspended, and all is as at the start.
	 */
	private ttlAfterLapse(lostAt: number): number {
		const { clock, spec } = this.options;
		if (lostAt - this.openedAt > CALM * this.leaseTtlMs) return spec.leaseTtlMs;
		const isSoon = clock.now() - lostAt < this.leaseTtlMs;
		const longest = LONGEST_LEASE * spec.leaseTtlMs;
		return isSoon ? Math.min(2 * this.leaseTtlMs, longest) : this.leaseTtlMs;
	}

	/** A lease that cannot be revoked expires by itself, without keepalives. */
	private async revokeLost(): Promise<void> {
		const leases = this.lostLeases;
		this.lostLeases = [];
		const results = await Promise.allSettled(
			leases.map((lease) => lease.revoke()),
		);
		for (const result of results) {
			if (result.status === "rejected" && !isUnreachable(result.reason)) {
				throw result.reason;
			}
		}
	}

	private retryFor<Value>(
		patienceMs: number,
		attempt: () => Promise<Value>,
		more: { readonly evenHopeless?: boolean } = {},
	): Promise<Value> {
		const { clock, random } = this.options;
		const until = clock.now() + patienceMs;
		return retry({ clock, random, until, ...more }, attempt);
	}

	private refuseClosed(): void {
		if (!this.closed) return;
		throw new ElasticRunError(
			"ABORTED",
			"this agent left the run while it was joining it",
		);
	}

	private report(error: unknown): void {
		if (!this.closed) this.listener?.onError(error);
	}
}

/** Why an agent ends whose run's keys have vanished. */
function runGone(): ElasticRunError {
	return new ElasticRunError(
		"RENDEZVOUS_FAILED",
		"the run's keys are gone from the store: it was emptied, or somebody deleted them; start the agents again",
	);
}

/** Whether this was written before, or in another world: a plan is made once. */
function isOlder(round: RoundRecord, newest: RoundRecord): boolean {
	if (round.instance !== newest.instance) return false;
	const { synced, deprecated, planId } = newest;
	if (round.synced !== synced) return round.synced < synced;
	return round.deprecated < deprecated || round.planId !== planId;
}

/** Why an agent ends whose store has forgotten what it knew. */
function setBack(round: RoundRecord, newest: RoundRecord): ElasticRunError {
	return new ElasticRunError(
		"RENDEZVOUS_FAILED",
		`the store has forgotten a part of the run: it shows round ${round.synced} after round ${newest.synced}, as one that was set up from an older copy; start the agents again`,
	);
}

/** A run that its store does not know any more cannot continue: for this agent it has failed, and its workers end in time. */
function endedView(
	{ round }: RoundView,
	{ exitCode, message: reason }: ElasticRunError,
): RoundView {
	const outcome = { result: "failed", exitCode, reason, root: null } as const;
	return { round: { ...round, outcome }, seat: null };
}
