import { beforeEach, describe, expect, it } from "vitest";
import { ElasticRunError } from "../../../src/base/errors.js";
import {
	Membership,
	type MembershipListener,
	type MembershipOptions,
} from "../../../src/rendezvous/member/membership.js";
import type { Intent } from "../../../src/rendezvous/records/intent.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import {
	decodeRecord,
	encodeRecord,
} from "../../../src/rendezvous/records/record-codec.js";
import {
	NODE,
	type RoundRecord,
} from "../../../src/rendezvous/records/records.js";
import type { RoundView } from "../../../src/rendezvous/records/run-view.js";
import type { Lease, LeaseEvents, Store } from "../../../src/store/store.js";
import { LeasedStore } from "../../helpers/leased-store.js";
import {
	agentIdentity,
	intentOf,
	runSpec,
} from "../../helpers/run-settings.js";
import { roundRecord, seatRecord } from "../../helpers/run-view.js";
import { settle, VirtualClock } from "../../helpers/virtual-clock.js";

const KEYS = new RunKeys("r");
const TTL_MS = 5_000;
const OVER = {
	result: "stopped",
	exitCode: 5,
	reason: "stop",
	root: null,
} as const;

/** A store whose leases end, as far as their holders know, at a time that the test sets. */
class LapsingStore extends LeasedStore {
	expiresAt = TTL_MS;
	newest: Pick<Lease, "expiresAt" | "ttlMs"> & LeaseEvents = {
		expiresAt: TTL_MS,
		ttlMs: TTL_MS,
		onLost() {},
	};

	/** Its hints get lost. */
	isMute = false;
	isAway = false;

	override watch(...[selectors, after, onHint]: Parameters<Store["watch"]>) {
		return super.watch(selectors, after, (revision) => {
			if (!this.isMute) onHint(revision);
		});
	}

	override async transaction(...what: Parameters<Store["transaction"]>) {
		if (this.isAway) throw new ElasticRunError("STORE_UNREACHABLE", "away");
		return super.transaction(...what);
	}

	override async openLease(
		ttlMs: number,
		events: LeaseEvents = this.newest,
	): Promise<Lease> {
		const { expiresAt } = this;
		if (this.isAway) throw new ElasticRunError("STORE_UNREACHABLE", "away");
		const lease = { ...(await super.openLease(ttlMs)), ...events, expiresAt };
		this.newest = lease;
		return lease;
	}
}

describe("an agent's membership", () => {
	let now: number;
	let store: LapsingStore;
	let views: RoundView[];
	let losses: number[];
	let longer: number[];
	let errors: unknown[];
	let plans: string[];
	let options: MembershipOptions;
	let listener: MembershipListener;
	let membership: Membership;

	beforeEach(async () => {
		now = 0;
		store = new LapsingStore();
		views = [];
		losses = [];
		longer = [];
		errors = [];
		plans = [];
		options = {
			store,
			// No timer rings: this is how a process that was frozen finds itself.
			clock: {
				now: () => now,
				asleep: () => 0,
				wallTime: () => 7,
				wakeAt: () => () => {},
			},
			runId: "r",
			identity: agentIdentity(),
			spec: runSpec({ maxNodes: 2, maxRestarts: 0 }),
			reservePort: async () => 4_000,
			random: () => 0,
			coordinating: {
				onPlanReason: (reason) => plans.push(reason),
				onSkipped: () => {},
			},
		};
		listener = {
			onView: (view) => views.push(view),
			onLost: (_, fenceAt) => losses.push(fenceAt),
			onLongerLease: (ttlMs) => longer.push(ttlMs),
			onError: (error) => errors.push(error),
		};
		membership = new Membership(options);
		await membership.join({ isDead: () => false });
		membership.start(listener);
		membership.publish(intentOf());
		await settle();
	});

	/** An agent of another node that may ride an outage out. */
	const linked = (nodeId: string, given: Partial<MembershipOptions> = {}) =>
		new Membership({
			...options,
			identity: agentIdentity({ nodeId, incarnation: `${nodeId}-1` }),
			spec: { ...options.spec, rideOutMs: 600_000 },
			...given,
			links: {
				tellHead() {},
				tell() {},
				begin() {},
				listen() {},
				askHead: () => false,
				answer() {},
				onRecords() {},
				known: new Set(),
				knownFor: undefined,
				isTold: false,
				tellRound() {},
				onRound() {},
			},
		});
	const put = (round: RoundRecord) =>
		store.transaction([], [{ put: KEYS.round, value: encodeRecord(round) }]);
	const own = async () => {
		const { entries } = await store.snapshot([KEYS.node("a")]);
		const entry = entries.get(KEYS.node("a"));
		return entry && decodeRecord(NODE, entry);
	};

	it("shows nothing to a process that was frozen for longer than its lease lives", async () => {
		const seen = views.length;
		now = 6_000;
		store.expiresAt = 11_000;
		await put(roundRecord({ instance: 7, synced: 1 }));
		await settle();
		expect(losses).toEqual([4_750]);
		expect(views.slice(seen).map(({ round }) => round.synced)).toEqual([1]);
	});

	it("B3 takes a longer lease after each lapse at which the store answers soon, up to eight times the run's", async () => {
		store.expiresAt = Number.POSITIVE_INFINITY;
		for (const [index, ttlMs] of [10_000, 20_000, 40_000].entries()) {
			store.newest.onLost("lapsed");
			await settle();
			expect(store.newest.ttlMs).toBe(ttlMs);
			expect(longer).toHaveLength(index + 1);
		}
		store.newest.onLost("lapsed");
		await settle();
		expect(store.newest.ttlMs).toBe(40_000);
		expect(longer).toEqual([10_000, 20_000, 40_000]);
	});

	it("B3 takes the run's lease again after a lapse that comes after a long calm, and its record tells a longer one", async () => {
		store.expiresAt = Number.POSITIVE_INFINITY;
		const lapseAt = async (time: number) => {
			now = time;
			store.newest.onLost("lapsed");
			await settle();
			return (await own())?.leaseTtlMs;
		};
		expect(await lapseAt(60 * TTL_MS)).toBe(2 * TTL_MS);
		expect(await lapseAt(61 * TTL_MS)).toBe(4 * TTL_MS);
		expect(await lapseAt(302 * TTL_MS)).toBeUndefined();
		expect(store.newest.ttlMs).toBe(TTL_MS);
	});

	it("B3 keeps its lease's time when the store was away for longer than that", async () => {
		const clock = new VirtualClock(0);
		store.expiresAt = Number.POSITIVE_INFINITY;
		const other = new Membership({
			...options,
			clock,
			identity: agentIdentity({ nodeId: "b", incarnation: "b-1" }),
		});
		await other.join({ isDead: () => false });
		other.start(listener);
		store.isAway = true;
		store.newest.onLost("lapsed");
		await clock.advance(TTL_MS);
		store.isAway = false;
		await clock.advance(30_000);
		expect(store.newest.ttlMs).toBe(TTL_MS);
		expect(longer).toEqual([]);
	});

	/** Of a run of one node, which goes on by itself without the store; that is away from now on. */
	const loseStore = async (...said: readonly Intent["state"][]) => {
		const clock = new VirtualClock(0);
		store = new LapsingStore();
		const link = { address: "b.example", port: 1, secret: "s" };
		const alone = linked("b", {
			...{ store, clock },
			identity: agentIdentity({ nodeId: "b", incarnation: "b-1", link }),
			spec: runSpec({ minNodes: 1, maxNodes: 1, rideOutMs: 9_000 }),
		});
		await alone.join({ isDead: () => false });
		alone.start(listener);
		alone.publish(intentOf());
		await settle();
		store.isAway = true;
		for (const state of said) alone.publish(intentOf({ state }));
		await clock.advance(8_500);
		return clock;
	};

	it("B3 keeps its lease's time also where it went on without the store as long as it may", async () => {
		const clock = await loseStore();
		expect(losses).toEqual([8_750]);
		store.isAway = false;
		store.expiresAt = Number.POSITIVE_INFINITY;
		await clock.advance(1_000);
		expect(store.newest.ttlMs).toBe(TTL_MS);
		expect(longer).toEqual([]);
	});

	it("goes on without the store no more once it has said that it leaves: others may take it for gone", async () => {
		await loseStore("leaving", "ready");
		expect(losses).toEqual([0.95 * TTL_MS]);
	});

	it("names the start of the run that it has joined, also where what it sees first is a later one", async () => {
		const seen: RoundView[] = [];
		const late = new Membership({
			...options,
			identity: agentIdentity({ nodeId: "b", incarnation: "b-1" }),
		});
		await late.join({ isDead: () => false });
		await put(roundRecord({ instance: 8 }));
		late.start({ ...listener, onView: (view) => seen.push(view) });
		late.publish(intentOf());
		await settle();
		expect(seen[0]).toMatchObject({ joined: 7, round: { instance: 8 } });
		const { entries } = await store.snapshot([KEYS.node("b")]);
		expect(entries.size).toBe(0);
	});

	it.each([
		["its run is over", { outcome: OVER }, true],
		["its store has forgotten a part of it", { synced: 0, planId: null }, true],
		["a later start of it is over", { instance: 8, outcome: OVER }, false],
		["it only ends", {}, false],
	])("says that it has left its round where it ends and %s: %j", async (_, end, isSaid) => {
		const other = linked("b");
		const { joined = 0 } = views[0] ?? {};
		await other.join({ isDead: () => false });
		other.start(listener);
		const plan = { synced: 1, planId: "plan-1", seats: 1 };
		const ROUND = { instance: joined, ...plan };
		const seat = seatRecord("b", { localWorldSize: 1 });
		await store.transaction(
			[],
			[{ put: KEYS.seat("b"), value: encodeRecord(seat) }],
		);
		await put(roundRecord(ROUND));
		await settle();
		await put(roundRecord({ ...ROUND, ...end }));
		await settle();
		await other.close();
		const { entries } = await store.snapshot([KEYS.left]);
		const said = entries.get(KEYS.leftBy("b"))?.value ?? "{}";
		const whoLeft = isSaid ? "b-1" : undefined;
		expect(JSON.parse(said).incarnation).toBe(whoLeft);
	});

	it("says that it has left also where its record could not say so any more", async () => {
		const other = linked("b");
		const { joined = 0 } = views[0] ?? {};
		await other.join({ isDead: () => false });
		other.start(listener);
		const seat = seatRecord("b", { localWorldSize: 1 });
		await store.transaction(
			[],
			[{ put: KEYS.seat("b"), value: encodeRecord(seat) }],
		);
		const plan = { synced: 1, planId: "plan-1", seats: 1 };
		await put(roundRecord({ instance: joined, ...plan }));
		await settle();
		store.isAway = true;
		other.publish({ ...intentOf(), state: "leaving", cause: "SIGTERM" });
		await settle();
		store.isAway = false;
		await other.close();
		const { entries } = await store.snapshot([KEYS.left]);
		expect(entries.has(KEYS.leftBy("b"))).toBe(true);
	});

	it("says nothing in a later start of the run", async () => {
		await put(roundRecord({ instance: 8 }));
		await settle();
		membership.publish({
			state: "leaving",
			claim: 1,
			failure: null,
			cause: "another instance",
			finishedPlan: null,
			pids: [],
			since: 0,
		});
		await settle();
		expect(views.at(-1)?.round.instance).toBe(8);
		expect(await own()).toMatchObject({ instance: 7, state: "ready" });
	});

	it("makes its record again where somebody has deleted it", async () => {
		await store.transaction([], [{ delete: KEYS.node("a") }]);
		await put(roundRecord({ instance: 7 }));
		await settle();
		expect(await own()).toMatchObject({ state: "ready", claim: 1 });
	});

	it("coordinates under its new token where its key was deleted and made again", async () => {
		const { entries } = await store.snapshot([
			KEYS.coordinator,
			KEYS.node("a"),
		]);
		const key = entries.get(KEYS.coordinator);
		const record = await own();
		if (key === undefined || record === undefined) throw new Error("no key");
		const lease = key.lease ?? undefined;
		const again = { put: KEYS.coordinator, value: key.value, lease };
		// At once, so that no look comes in between.
		await Promise.all([
			store.transaction([], [{ delete: KEYS.coordinator }]),
			store.transaction([], [again]),
		]);
		await settle();
		const other = { ...record, nodeId: "b", incarnation: "b-1" };
		await store.transaction(
			[],
			[{ put: KEYS.node("b"), value: encodeRecord(other) }],
		);
		await settle();
		expect(views.at(-1)?.round.synced).toBe(1);
	});

	it("coordinates no longer where the key is another's, whatever its revision: another store may be under the old address", async () => {
		const other = { version: 1, nodeId: "b", incarnation: "b-1" };
		await store.transaction(
			[],
			[{ put: KEYS.coordinator, value: JSON.stringify(other) }],
		);
		await settle();
		const before = plans.length;
		const record = { ...(await own()), nodeId: "b", incarnation: "b-1" };
		await store.transaction(
			[],
			[{ put: KEYS.node("b"), value: JSON.stringify(record) }],
		);
		await settle();
		expect(plans.slice(before)).toEqual([]);
		expect(views.at(-1)?.round.synced).toBe(0);
	});
});
