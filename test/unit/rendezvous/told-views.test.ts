import { beforeEach, expect, it } from "vitest";
import {
	Membership,
	type MembershipOptions,
} from "../../../src/rendezvous/member/membership.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import { decodeRecord } from "../../../src/rendezvous/records/record-codec.js";
import {
	NODE,
	type RoundRecord,
	type SeatRecord,
} from "../../../src/rendezvous/records/records.js";
import type { RoundView } from "../../../src/rendezvous/records/run-view.js";
import type { Snapshot, Store } from "../../../src/store/store.js";
import { LeasedStore } from "../../helpers/leased-store.js";
import {
	agentIdentity,
	intentOf,
	runSpec,
} from "../../helpers/run-settings.js";
import { roundRecord, seatRecord } from "../../helpers/run-view.js";
import { settle, VirtualClock } from "../../helpers/virtual-clock.js";

const KEYS = new RunKeys("r");
const OTHER = { version: 1, nodeId: "z", incarnation: "z-1" } as const;

/** Its watches tell of a change what the keys then hold, as etcd's do. */
class TellingStore extends LeasedStore {
	looks = 0;
	writes = 0;
	/** Of the agent's last look. */
	known: Snapshot | undefined;
	/** Happens before the next write. */
	meanwhile: (() => Promise<unknown>) | undefined;

	override async transaction(...about: Parameters<Store["transaction"]>) {
		const { meanwhile } = this;
		this.meanwhile = undefined;
		await meanwhile?.();
		this.writes += 1;
		return super.transaction(...about);
	}

	override async snapshot(selectors: readonly string[], known?: Snapshot) {
		this.looks += 1;
		if (selectors.length > 1) this.known = known;
		return super.snapshot(selectors);
	}

	override watch(...[selectors, after, onHint]: Parameters<Store["watch"]>) {
		let seen = after;
		return super.watch(selectors, after, (revision) => {
			void super.snapshot(selectors).then(({ entries }) => {
				const news = [...entries.values()].filter(
					({ modRevision }) => modRevision > seen,
				);
				seen = revision ?? seen;
				onHint(revision, news.length > 0 ? news : undefined);
			});
		});
	}
}

let store: TellingStore;
let views: RoundView[];
let membership: Membership;

const put = (...writes: readonly (readonly [string, object])[]) =>
	store.transaction(
		[],
		writes.map(([key, value]) => ({ put: key, value: JSON.stringify(value) })),
	);
const round = (change: Partial<RoundRecord>) =>
	put([KEYS.round, roundRecord({ instance: 7, seats: 2, ...change })]);
const seat = (change: Partial<SeatRecord> = {}) =>
	put([KEYS.seat("a"), seatRecord("a", { localWorldSize: 1, ...change })]);
const own = async () => {
	const { entries } = await store.snapshot([KEYS.node("a")]);
	const entry = entries.get(KEYS.node("a"));
	return entry && decodeRecord(NODE, entry);
};
const newest = () => views.at(-1);

/** Resolves with how often the agent has read meanwhile. */
async function looksDuring(change: () => Promise<unknown>): Promise<number> {
	const before = store.looks;
	await change();
	await settle();
	return store.looks - before;
}

// Agent a is ready for the first round, and another one plans.
beforeEach(async () => {
	store = new TellingStore();
	views = [];
	const clock = new VirtualClock(0);
	const options: MembershipOptions = {
		...{ store, clock, runId: "r", random: () => 0 },
		identity: agentIdentity(),
		spec: runSpec(),
		reservePort: async () => 4_000,
		coordinating: { onPlanReason: () => {}, onSkipped: () => {} },
	};
	await put(
		[KEYS.round, roundRecord({ instance: 7 })],
		[KEYS.spec, runSpec()],
		[KEYS.coordinator, OTHER],
		[KEYS.node("z"), { ...(await zero()), ...OTHER }],
	);
	membership = new Membership(options);
	await membership.join({ isDead: () => false });
	membership.start({
		onView: (view) => views.push(view),
		onLost: () => {},
		onLongerLease: () => {},
		onError: (error) => {
			throw error;
		},
	});
	membership.publish(intentOf());
	await settle();
});

/** A record of an agent of this run. */
async function zero() {
	return { ...agentIdentity(), ...intentOf(), instance: 7, masterPort: 1 };
}

it("begins a round on its seat and the round as its watches tell them, without a look", async () => {
	const looks = await looksDuring(async () => {
		await seat();
		await settle();
		await round({ synced: 1, planId: "plan-1" });
	});
	expect(looks).toBe(0);
	expect(newest()).toMatchObject({
		round: { synced: 1 },
		seat: { planId: "plan-1", round: 1 },
	});
});

it("looks where a round begins and its watches tell no seat in it", async () => {
	await seat({ planId: "plan-0" });
	await settle();
	const looks = await looksDuring(() => round({ synced: 1, planId: "plan-1" }));
	expect(looks).toBe(1);
	expect(newest()?.seat).toMatchObject({ planId: "plan-0" });
});

it("leaves a round as its watch tells, and claims the next one by that round's revision, without a look", async () => {
	await seat();
	await round({ synced: 1, planId: "plan-1" });
	await settle();
	const looks = await looksDuring(async () => {
		await round({ synced: 1, deprecated: 1, planId: "plan-1" });
		await settle();
		membership.publish(intentOf({ claim: 2 }));
	});
	expect(looks).toBe(0);
	expect(newest()?.round.deprecated).toBe(1);
	expect(await own()).toMatchObject({ state: "ready", claim: 2 });
});

it("looks after a write that was refused, whatever its watches tell: its record may be gone", async () => {
	await round({ synced: 1, planId: "plan-1" });
	await settle();
	expect(store.known).toBeDefined();
	await round({ synced: 1, deprecated: 1, planId: "plan-1" });
	await settle();
	const before = store.writes;
	store.meanwhile = async () => {
		await store.transaction([], [{ delete: KEYS.node("a") }]);
		await round({ synced: 1, deprecated: 1, planId: "plan-1", incidents: 1 });
		await settle();
	};
	membership.publish(intentOf({ claim: 2 }));
	for (let turn = 0; turn < 3; turn += 1) await settle();
	// What was known may be another store's.
	expect(store.known).toBeUndefined();
	expect(await own()).toMatchObject({ state: "ready", claim: 2 });
	// Two of the test's, one that was refused and one that was not.
	expect(store.writes - before).toBe(4);
});

it("looks where a key was deleted", async () => {
	const looks = await looksDuring(() =>
		store.transaction([], [{ delete: KEYS.coordinator }]),
	);
	expect(looks).toBe(1);
});
