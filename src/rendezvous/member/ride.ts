import type { Clock } from "../../base/clock.js";
import { formatDuration } from "../../base/units.js";
import type { RideMessage } from "../../model/index.js";
import type { Lease } from "../../store/index.js";
import {
	ANSWER_COUNTS_FOR,
	PERMITTED_FOR,
	RIDES_END,
} from "../planner/riders.js";
import type { RoundView } from "../records/run-view.js";
import { type Answer, Answers, PollTimes } from "./ride-answers.js";

/*
 * How a round goes on while the store is away.
 *
 * The head of the round asks all agents that it is linked with, again and again. Each answers `away` if the store is away
 * for it too, and promises with it to plan nothing for a while. Once all members have answered so, and all other agents
 * that are linked with the head, the head says `ride` to each: no other round can have begun, and none can begin before
 * the promises are over. Each agent counts the time of its permission from when it sent the answer that it is for.
 *
 * An agent that the head does not know, as one that came later, plans nothing while members may ride: see riders.ts.
 */

/**
 * Parts of the time to live of a lease: the store counts as away, how often the head asks. After the last one users
 * are told.
 */
const AWAY_AFTER = 0.4;
const ASKS_EVERY = 0.05;
const TOLD_AFTER = 0.8;
/** It counts as away after so many times the time of its last answer, where its leases have become longer for that. */
const ANSWERS = 4;

/** The agent's connections to the other agents of its run. */
export interface RideLinks {
	tellHead(message: RideMessage): void;
	/** Of the head: to one agent, by its incarnation. */
	tell(incarnation: string, message: RideMessage): void;
	/** Of the head: from now on it knows the agents that are linked with it as agents of this plan, and tells them so. */
	begin(plan: string): void;
	/** Of the head: those of the plan that have not left since, by incarnation. */
	readonly known: ReadonlySet<string>;
	/** The plan as an agent of which the head knows this one, and since when, on the steady clock. */
	readonly knownFor:
		| { readonly plan: string; readonly since: number }
		| undefined;
	/** Receives what other agents say, from now on. */
	listen(hear: (from: string, message: RideMessage) => void): void;
}

export interface RideOptions {
	readonly clock: Clock;
	readonly links: RideLinks;
	readonly incarnation: string;
	readonly leaseTtlMs: number;
	/** The lease of its record; undefined while it has none. */
	readonly lease: () =>
		| Pick<Lease, "expiresAt" | "ttlMs" | "answeredInMs">
		| undefined;
	/** How long a round goes on without the store. */
	readonly rideOutMs: number;
	/**
	 * Whether a round of one node goes on: no other node takes part in the run. Else its end could not be told from an
	 * outage, and the next node would wait.
	 */
	readonly ridesAlone: boolean;
	/** Called when it may plan again sooner than it had promised. */
	readonly onReleased: () => void;
	/** Receives what happens, in words. */
	readonly tell: (words: string) => void;
}

/** A round that goes on without the store. */
export interface Riding {
	/** Since its agent last heard the store, in milliseconds. */
	readonly forMs: number;
	readonly nodes: number;
	/** Of these nodes, as the head hears them; to the others its permission means all, and none for a while nobody else. */
	readonly heard: number;
}

/** One agent's part in riding out an outage of the store. */
export class Ride {
	private view: Pick<RoundView, "round" | "seat"> | undefined;
	/** The revision of `round` for which it has written a plan whose outcome is unknown. */
	private unsureOf: number | undefined;
	/** When the last acknowledged keepalive was sent. */
	private heardStoreAt = Number.NEGATIVE_INFINITY;
	/** How long its lease may be unconfirmed until the store counts as away: a store that is slow is not. */
	private awayAfterMs: number;
	private readonly answers: Answers;
	/** When it answered each poll with `away`, since it last had the store; and the newest answered poll of the plan. */
	private readonly answered = new PollTimes();
	private lastAnswered = 0;
	private isAsking = false;
	private permittedUntil = Number.NEGATIVE_INFINITY;
	/** When it gave the newest answer for which it has a permission. */
	private permittedFor = Number.NEGATIVE_INFINITY;
	/** Of the head: until when anybody may have its permission. */
	private grantedUntil = Number.NEGATIVE_INFINITY;
	private promised: { until: number; plan: string; poll: number } | undefined;
	private ridesSince: number | undefined;
	/** Its workers have ended since the store was there. */
	private hasEnded = false;
	private isLeaving = false;
	private cancelAsking = () => {};
	private closed = false;

	constructor(private readonly options: RideOptions) {
		this.awayAfterMs = AWAY_AFTER * options.leaseTtlMs;
		this.answers = new Answers(options.leaseTtlMs);
		options.links.listen((from, message) => this.hear(from, message));
	}

	/** Until when the lease may be relied upon, on the steady clock, although the store is away. */
	get reliableUntil(): number {
		return this.permittedUntil - this.options.clock.asleep();
	}

	/** Until when this agent has promised to plan nothing, on the steady clock. */
	get promisedUntil(): number {
		const { until = Number.NEGATIVE_INFINITY } = this.promised ?? {};
		return Math.max(until, this.grantedUntil) - this.options.clock.asleep();
	}

	/**
	 * From when on nobody of this plan works on without the store unless this agent has said `away`, on the steady clock:
	 * its head knows it, and what the head permitted before is over. Undefined: its head does not know it.
	 */
	knownFrom(plan: string): number | undefined {
		const { links, leaseTtlMs } = this.options;
		const { knownFor } = links;
		if (knownFor?.plan !== plan) return undefined;
		return knownFor.since + RIDES_END * leaseTtlMs;
	}

	/** Undefined: its agent has the store, or may not rely on its lease without it. */
	get riding(): Riding | undefined {
		const { ridesSince, isAway, view, time } = this;
		if (ridesSince === undefined || !isAway) return undefined;
		if (view === undefined || this.permittedUntil <= time) return undefined;
		const nodes = view.round.seats;
		const freshMs = ANSWER_COUNTS_FOR * this.options.leaseTtlMs;
		const toOthers = time - this.permittedFor > freshMs ? 1 : nodes;
		const heard = this.isHead ? this.answers.membersAway(time) : toOthers;
		return { forMs: time - ridesSince, nodes, heard };
	}

	/** As the coordinator it writes a plan for `round` at this revision. It may be made without its knowledge. */
	writing(roundRevision: number): void {
		this.unsureOf = roundRevision;
	}

	/** The store has refused that plan. One that it took is known once it is seen. */
	refused(): void {
		this.unsureOf = undefined;
	}

	/** It says that it leaves, so others may go on without it: it confirms no round from now on. */
	leave(): void {
		this.isLeaving = true;
	}

	see(view: Pick<RoundView, "round" | "seat">, roundRevision: number): void {
		// A watch may tell of an earlier round only now.
		const { unsureOf = Number.POSITIVE_INFINITY } = this;
		if (roundRevision > unsureOf) this.unsureOf = undefined;
		const { incarnation, links } = this.options;
		const before = this.view?.round.planId;
		this.view = view;
		const { planId, head } = view.round;
		if (planId === null || planId === before) return;
		this.permittedUntil = Number.NEGATIVE_INFINITY;
		for (const one of [this.answers, this.answered]) one.clear();
		this.lastAnswered = 0;
		if (head?.incarnation === incarnation) links.begin(planId);
	}

	/** Call it at each look at the lease. */
	look(): void {
		const { clock } = this.options;
		if (!this.isAway) this.endRide();
		if (this.closed || this.isAsking) return;
		const awayAt = this.heardStoreAt - clock.asleep() + this.awayAfterMs;
		this.cancelAsking();
		this.cancelAsking = clock.wakeAt(awayAt + 1, () => this.ask());
	}

	close(): void {
		this.closed = true;
		this.cancelAsking();
	}

	/** Steady time that counts a machine's sleep. */
	private get time(): number {
		const { clock } = this.options;
		return clock.now() + clock.asleep();
	}

	private get isAway(): boolean {
		const lease = this.options.lease();
		if (lease !== undefined) {
			const { expiresAt, ttlMs, answeredInMs } = lease;
			const heardAt = expiresAt - ttlMs + this.options.clock.asleep();
			this.heardStoreAt = Math.max(this.heardStoreAt, heardAt);
			const usualMs = AWAY_AFTER * this.options.leaseTtlMs;
			const slowMs = Math.min(AWAY_AFTER * ttlMs, ANSWERS * answeredInMs);
			this.awayAfterMs = Math.max(usualMs, slowMs);
		}
		return this.time - this.heardStoreAt > this.awayAfterMs;
	}

	/** The plan of the round that runs as far as this agent knows. */
	private get plan(): string | null {
		if (this.view === undefined) return null;
		const { planId, synced, deprecated, outcome } = this.view.round;
		return synced > deprecated && outcome === null ? planId : null;
	}

	private get isMember(): boolean {
		const { seat = null, round } = this.view ?? {};
		return seat !== null && "planId" in seat && seat.planId === round?.planId;
	}

	private get isHead(): boolean {
		return this.view?.round.head?.incarnation === this.options.incarnation;
	}

	/** The head asks while the store is away, and until all know that it is back. */
	private ask(): void {
		const { clock, leaseTtlMs, links, incarnation } = this.options;
		const { plan } = this;
		const isOwed =
			this.isAway ||
			this.grantedUntil > this.time ||
			this.answers.isPromiseLeft(this.time);
		this.isAsking = !this.closed && this.isHead && plan !== null && isOwed;
		if (!this.isAsking || plan === null) {
			// A machine's sleep is known to some milliseconds only: the store may not count as away yet.
			if (!this.isAway) this.look();
			return;
		}
		this.permitAll();
		const poll = this.answers.ask(this.time);
		for (const one of links.known)
			links.tell(one, { kind: "poll", plan, poll });
		const answer = this.answer(plan, poll);
		if (answer !== undefined) this.take(incarnation, answer);
		const at = clock.now() + ASKS_EVERY * leaseTtlMs;
		this.cancelAsking = clock.wakeAt(at, () => this.ask());
	}

	private hear(from: string, message: RideMessage): void {
		if (this.closed || message.plan !== this.plan) return;
		const { plan, poll, kind } = message;
		const isFromHead = this.view?.round.head?.incarnation === from;
		if (kind === "away" || kind === "back") {
			if (!this.isHead) return;
			this.take(from, { kind, poll, isMember: message.isMember === true });
		} else if (!isFromHead) return;
		else if (kind === "poll") {
			const answer = this.answer(plan, poll);
			if (answer) this.options.links.tellHead({ ...answer, plan });
		} else if (kind === "ride") this.permit(poll);
		else this.release(plan, poll);
	}

	/** Undefined: it can say neither. */
	private answer(plan: string, poll: number): Answer | undefined {
		const { leaseTtlMs } = this.options;
		const { isMember } = this;
		// A poll that is heard twice was answered as it was then.
		if (poll <= this.lastAnswered) return undefined;
		this.lastAnswered = poll;
		if (!this.isAway) {
			// It relies on its lease again, and on no earlier answer, even if the permission for that is late.
			this.permittedUntil = Number.NEGATIVE_INFINITY;
			this.answered.clear();
			return { kind: "back", poll, isMember };
		}
		if (this.unsureOf !== undefined || this.isLeaving) return undefined;
		this.answered.note(poll, this.time);
		// The head knows what it has permitted.
		if (!this.isHead) {
			const until = this.time + RIDES_END * leaseTtlMs;
			this.promised = { until, plan, poll };
		}
		return { kind: "away", poll, isMember };
	}

	/** The head takes an answer. */
	private take(from: string, answer: Answer): void {
		const isNew = this.answers.take(from, answer);
		if (!isNew || answer.kind === "away") return;
		if (this.grantedUntil <= this.time) {
			// What it promised before is of no use to anybody.
			this.say("over", [from]);
		} else if (this.haveAllSaid("back")) {
			this.grantedUntil = Number.NEGATIVE_INFINITY;
			this.say("over", this.agents);
		}
	}

	/** Before the head asks again: once for all answers, for there may be thousands. Its own may be out of date. */
	private permitAll(): void {
		const mayHavePlanned = !this.isAway || this.unsureOf !== undefined;
		if (mayHavePlanned || !this.haveAllSaid("away")) return;
		const { leaseTtlMs } = this.options;
		this.grantedUntil = this.time + PERMITTED_FOR * leaseTtlMs;
		this.say("ride", this.agents);
	}

	/** Of the head: itself, and all that it knows. */
	private get agents(): ReadonlySet<string> {
		const { links, incarnation } = this.options;
		return new Set([...links.known, incarnation]);
	}

	/** Whether all agents have lately answered so; to go on without the store, all members of the round among them. */
	private haveAllSaid(kind: Answer["kind"]): boolean {
		const { answers, agents, time, view } = this;
		const members = answers.membersIfAll(kind, agents, time);
		if (members === undefined) return false;
		// Who is dead, or has left, relies on nothing.
		if (kind === "back") return true;
		const areEnough = members > 1 || this.options.ridesAlone;
		return areEnough && members === view?.round.seats;
	}

	/** Says it to each of them, for the poll that it answered last. */
	private say(kind: "ride" | "over", agents: Iterable<string>): void {
		const { links, incarnation } = this.options;
		const { plan } = this;
		if (plan === null) return;
		for (const one of agents) {
			const poll = this.answers.pollOf(one);
			if (one !== incarnation) links.tell(one, { kind, plan, poll });
			else if (kind === "ride") this.permit(poll);
			else this.release(plan, poll);
		}
	}

	/** All members of the round have confirmed it, this one by its answer to this poll. */
	private permit(poll: number): void {
		const { leaseTtlMs, rideOutMs, tell } = this.options;
		const answeredAt = this.answered.get(poll);
		if (answeredAt === undefined || !this.isAway) return;
		this.permittedFor = Math.max(this.permittedFor, answeredAt);
		const longest = this.heardStoreAt + rideOutMs;
		const until = Math.min(answeredAt + PERMITTED_FOR * leaseTtlMs, longest);
		this.permittedUntil = Math.max(this.permittedUntil, until);
		const isTold =
			this.ridesSince !== undefined ||
			this.time < this.heardStoreAt + TOLD_AFTER * leaseTtlMs;
		if (isTold || this.hasEnded || this.permittedUntil <= this.time) return;
		this.ridesSince = this.heardStoreAt;
		const { synced, seats } = this.view?.round ?? { synced: 0, seats: 0 };
		const all = `all ${seats} nodes of round ${synced} confirm it`;
		const why = seats === 1 ? `round ${synced} has no other node` : all;
		tell(
			`the store is away: ${why}, so its workers run on, for ${formatDuration(rideOutMs)} at most`,
		);
	}

	/** All agents that had answered this poll rely on their leases again. */
	private release(plan: string, poll: number): void {
		const { promised } = this;
		if (promised?.plan === plan && promised.poll <= poll) {
			this.promised = undefined;
		}
		if (this.promisedUntil <= this.options.clock.now()) {
			this.options.onReleased();
		}
	}

	/** Its workers end, because it may not go on without the store. Returns why, if it went on until now. */
	end(): string | undefined {
		this.hasEnded = true;
		if (this.ridesSince === undefined) return undefined;
		const until = this.ridesSince + this.options.rideOutMs;
		return this.permittedUntil < until
			? `the store is away, and not all nodes of round ${this.view?.round.synced} confirm it any more: the others may go on without this one`
			: "the store has been away for as long as a round goes on without it (--ride-out)";
	}

	private endRide(): void {
		const { ridesSince, hasEnded, time } = this;
		this.ridesSince = undefined;
		this.hasEnded = false;
		if (ridesSince === undefined || hasEnded) return;
		const after = formatDuration(Math.round(time - ridesSince));
		this.options.tell(`the store is back after ${after}: the round goes on`);
	}
}
