import type { Clock } from "../clock.js";
import { ElasticRunError } from "../errors.js";
import { isUnreachable, retry } from "./back-off.js";
import { type JoinedRun, joinRun } from "./join-run.js";
import { RunKeys } from "./keys.js";
import type { OnLeaseLost } from "./lease-guard.js";
import type { AgentIdentity, Intent } from "./record-writer.js";
import type { NodeRecord, Outcome, RunSpec } from "./records.js";
import type { RoundView } from "./round-view.js";
import { Session } from "./session.js";
import type { Lease, Store } from "./store.js";

export type { RoundView } from "./round-view.js";

/** How long an unreachable store is tried at the start, unless the join time-out is shorter. */
const START_PATIENCE_MS = 30_000;

export interface MembershipOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly runId: string;
	readonly identity: AgentIdentity;
	readonly spec: RunSpec;
	/** Reserves a port that is free on this node, kept bound until its workers start. */
	readonly reservePort: (claim: number) => Promise<number>;
	/** Whether the process that wrote this record is certainly gone; false where that cannot be known. */
	readonly isDead: (holder: NodeRecord) => boolean;
	/** Whether `join` is to reserve the node id at once, or to give way: see `JoinRunOptions`. */
	readonly isNodeIdTentative?: boolean | undefined;
	/** A number in [0, 1), by which agents spread their tries. */
	readonly random: () => number;
	/** Writes that one transaction of a coordinator may hold: see `CoordinatorOptions`. */
	readonly batchSize?: number | undefined;
	readonly onView: (view: RoundView) => void;
	/** Its workers must be dead by the time that is given; meanwhile it joins again by itself. */
	readonly onLost: OnLeaseLost;
	/** Told of what ends this agent's part in the run. */
	readonly onError: (error: unknown) => void;
	/** Told what the coordinator decides or waits for, where it is this agent. */
	readonly onPlanReason: (reason: string) => void;
}

/**
 * One agent's part in its run, over all of its sessions with the store: what
 * it wants its record to say is kept, and a lease that is lost is replaced.
 */
export class Membership {
	private readonly keys: RunKeys;
	private session: Session | undefined;
	private intent: Intent | null = null;
	/** Given up here, but perhaps not ended in the store: the record may still hang on one. */
	private lostLeases: readonly Lease[] = [];
	/** The start of the run that this process has joined: what it sees first may be a later one. */
	private instance: number | undefined;
	private lastView: RoundView | undefined;
	private started = false;
	private closed = false;

	constructor(private readonly options: MembershipOptions) {
		this.keys = new RunKeys(options.runId);
	}

	/**
	 * Opens a lease and finds or begins the run. Resolves with its instance, with
	 * the outcome of a run that has just ended, or with the holder of a tentative
	 * node id. Nothing is shown of it yet.
	 * @throws ElasticRunError STORE_UNREACHABLE where the store does not answer in time,
	 * RENDEZVOUS_FAILED where the node id is taken or the settings differ
	 */
	async join(): Promise<JoinedRun> {
		const { joinTimeoutMs } = this.options.spec;
		const joined = await this.retryFor(
			Math.min(START_PATIENCE_MS, joinTimeoutMs),
			async () => {
				this.refuseClosed();
				this.session ??= await this.openSession();
				const { candidacy, lease } = this.session;
				return joinRun({ ...this.options, keys: this.keys, candidacy, lease });
			},
		);
		if ("instance" in joined) this.instance = joined.instance;
		return joined;
	}

	/** From now on `onView` is told what is there, and each change of it. */
	start(): void {
		this.started = true;
		if (this.session === undefined) this.rejoin();
		else this.session.start();
	}

	/**
	 * Makes the record say this, now or as soon as it can be; a later intent
	 * replaces it, and null takes back what has not been written yet.
	 */
	publish(intent: Intent | null): void {
		this.intent = intent;
		this.session?.want(intent);
	}

	/** Gives up its leases: the record and the coordinator's key vanish at once. */
	async close(): Promise<void> {
		this.closed = true;
		this.session?.close();
		await Promise.all([this.revokeLost(), this.session?.lease.revoke()]);
	}

	private async openSession(): Promise<Session> {
		const { store, spec } = this.options;
		this.refuseClosed();
		let session: Session | undefined;
		const lease = await store.openLease(spec.leaseTtlMs, {
			onLost: (reason) => session?.guard.lose(reason),
			onKeepalive: () => session?.guard.check(),
		});
		session = new Session({
			...this.options,
			keys: this.keys,
			lease,
			onView: (view) => {
				this.lastView = view;
				this.options.onView({ ...view, joined: this.instance });
			},
			isForeign: ({ instance }) => instance !== this.instance,
			onRunGone: () => this.endWithoutRun(),
			onLost: (reason, fenceAt) => this.lose(lease, reason, fenceAt),
			onStanding: () => {
				this.revokeLost().catch((error) => this.report(error));
			},
		});
		return session;
	}

	/** Nobody can go on with a run whose keys are gone: for this agent it has failed, and its workers end in their time. */
	private endWithoutRun(): void {
		const error = new ElasticRunError(
			"RENDEZVOUS_FAILED",
			"the run's keys are gone from the store: it was emptied, or somebody deleted them; start the agents again",
		);
		if (this.lastView === undefined) {
			this.report(error);
			return;
		}
		const outcome: Outcome = {
			result: "failed",
			exitCode: error.exitCode,
			reason: error.message,
			root: null,
		};
		const round = { ...this.lastView.round, outcome };
		this.options.onView({ round, seat: null });
	}

	private lose(lease: Lease, reason: string, fenceAt: number): void {
		this.lostLeases = [...this.lostLeases, lease];
		this.session = undefined;
		if (!this.started) return;
		this.options.onLost(reason, fenceAt);
		this.rejoin();
	}

	/** A new lease, and under it the record as it shall stand now: same node id, same incarnation. */
	private rejoin(): void {
		const attempt = async () => {
			const session = await this.openSession();
			if (this.closed) return session.lease.revoke();
			this.session = session;
			if (this.intent) session.takeOver(this.intent);
			session.start();
		};
		const patienceMs = this.options.spec.joinTimeoutMs;
		this.retryFor(patienceMs, attempt, { evenHopeless: true }).catch((error) =>
			this.report(error),
		);
	}

	/** Where a lease cannot be revoked it lapses by itself: it is kept alive no longer. */
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
		if (!this.closed) this.options.onError(error);
	}
}
