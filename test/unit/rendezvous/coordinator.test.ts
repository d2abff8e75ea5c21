import { expect, it } from "vitest";
import {
	type Coordinating,
	Coordinator,
	type CoordinatorOptions,
} from "../../../src/rendezvous/member/coordinator.js";
import type { ReplacedRecord } from "../../../src/rendezvous/records/departure-records.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import { encodeRecord } from "../../../src/rendezvous/records/record-codec.js";
import type { NodeRecord } from "../../../src/rendezvous/records/records.js";
import type {
	Compare,
	ReadBack,
	Reader,
	Snapshot,
	Write,
} from "../../../src/store/store.js";
import { LeasedStore } from "../../helpers/leased-store.js";
import { nodeRecord, roundRecord, seatRecord } from "../../helpers/run-view.js";
import { settle, VirtualClock } from "../../helpers/virtual-clock.js";

const KEYS = new RunKeys("r");

/** A store that notes of what is known it is told, and that refuses the writes of others than the test's. */
class NotingStore extends LeasedStore {
	readonly known: (Snapshot | undefined)[] = [];
	refuses = false;
	/** Done once, before the next write that has conditions. */
	meanwhile: (() => Promise<void>) | undefined;

	override snapshot(selectors: readonly string[], known?: Snapshot) {
		this.known.push(known);
		return super.snapshot(selectors);
	}

	override async transaction(
		compares: readonly Compare[],
		writes: readonly Write[],
		reads?: ReadBack,
	) {
		const { meanwhile } = this;
		if (compares.length > 0) this.meanwhile = undefined;
		if (compares.length > 0) await meanwhile?.();
		return this.refuses && compares.length > 0
			? Promise.resolve({ succeeded: false, revision: 0 })
			: super.transaction(compares, writes, reads);
	}
}

const ownReader = (take: Reader["take"]): Reader => ({
	selectors: KEYS.seenBy("a"),
	take,
});

const CONFIG: CoordinatorOptions["config"] = {
	minNodes: 1,
	maxNodes: 1,
	maxRestarts: 0,
	finishedStay: false,
	joinTimeoutMs: 2_000,
	lastCallTimeoutMs: 1_000,
	settleTimeoutMs: 1_000,
	leaseTtlMs: 5_000,
};

const QUIET: Coordinating = { onPlanReason: () => {}, onSkipped: () => {} };

async function coordinating(
	settings: Partial<CoordinatorOptions> = {},
	wants: Partial<Coordinating> = {},
) {
	const store = new NotingStore();
	const clock = new VirtualClock(0);
	const put = async (deprecated: number) => {
		const value = encodeRecord(roundRecord({ synced: 1, deprecated }));
		await store.transaction([], [{ put: KEYS.round, value }]);
		await settle();
	};
	await put(1);
	const options: CoordinatorOptions = {
		store,
		clock,
		keys: KEYS,
		config: CONFIG,
		fencingToken: { createRevision: 0, value: "" },
		identity: { nodeId: "a", incarnation: "a-1" },
		coordinating: { ...QUIET, ...wants },
		synced: 1,
		random: () => 0,
		onError: (error) => {
			throw error;
		},
		...settings,
	};
	const coordinator = new Coordinator(options);
	coordinator.start();
	await settle();
	return { store, clock, put, options, coordinator };
}

it("reads all again when a write of its was refused: what it knows may be another store's", async () => {
	const { store, clock, coordinator } = await coordinating();
	store.refuses = true;
	store.known.length = 0;
	// The join time-out is over: the run is to fail.
	await clock.advance(12_000);
	expect(store.known.length).toBeGreaterThan(1);
	expect(store.known.slice(1)).toEqual(
		store.known.slice(1).map(() => undefined),
	);
	coordinator.close();
});

it("K10 tells a successor how long the run has lived, and that counts on to the deadline", async () => {
	const config = { ...CONFIG, joinTimeoutMs: 1e9, deadlineMs: 20_000 };
	const fencingToken = { createRevision: 3, value: "a" };
	const first = await coordinating({ config, fencingToken });
	await first.store.transaction([], [{ put: KEYS.coordinator, value: "a" }]);
	await first.clock.advance(15_000);
	first.coordinator.close();
	const { store } = first;
	const clock = new VirtualClock(7_000_000);
	const about = { store, clock, config, synced: 1 };
	const successor = new Coordinator({ ...first.options, ...about });
	successor.start();
	const round = async () => {
		const { entries } = await store.snapshot([KEYS.round]);
		return entries.get(KEYS.round)?.value;
	};
	await clock.advance(4_000);
	expect(await round()).not.toContain("deadline of 20s");
	await clock.advance(3_000);
	expect(await round()).toContain("deadline of 20s");
	successor.close();
});

it("resigns in the transaction that leaves the round, when its own node leaves the run", async () => {
	const read: Snapshot[] = [];
	const { store, coordinator } = await coordinating({
		fencingToken: { createRevision: 3, value: "a" },
		own: ownReader((each) => void read.push(each)),
	});
	const seat = (nodeId: string) => ({
		put: KEYS.seat(nodeId),
		value: encodeRecord(seatRecord(nodeId)),
	});
	const node = (nodeId: string, state: "running" | "leaving") => ({
		put: KEYS.node(nodeId),
		value: encodeRecord(nodeRecord(nodeId, { state })),
	});
	const round = roundRecord({ synced: 1, planId: "plan-1", seats: 2 });
	await store.transaction([], [{ put: KEYS.coordinator, value: "a" }]);
	await store.transaction(
		[],
		[
			...[seat("a"), seat("b"), node("a", "leaving"), node("b", "running")],
			{ put: KEYS.round, value: encodeRecord(round) },
		],
	);
	await settle();
	expect(read).toHaveLength(1);
	expect(read[0]?.entries.has(KEYS.coordinator)).toBe(false);
	expect(read[0]?.entries.get(KEYS.round)?.value).toContain('"deprecated":1');
	store.known.length = 0;
	await store.transaction([], [node("b", "running")]);
	await settle();
	expect(store.known).toEqual([]);
	coordinator.close();
});

it("plans on by what its own write has read back, without a look", async () => {
	const read: Snapshot[] = [];
	const { store, coordinator } = await coordinating({
		fencingToken: { createRevision: 3, value: "a" },
		own: ownReader((each) => void read.push(each)),
	});
	await store.transaction([], [{ put: KEYS.coordinator, value: "a" }]);
	const value = encodeRecord(nodeRecord("a", { state: "running" }));
	const seats = ["a", "b"].map((nodeId) => ({
		put: KEYS.seat(nodeId),
		value: encodeRecord(seatRecord(nodeId)),
	}));
	const round = roundRecord({ synced: 1, planId: "plan-1", seats: 2 });
	store.known.length = 0;
	await store.transaction(
		[],
		[
			...seats,
			{ put: KEYS.node("a"), value },
			{ put: KEYS.round, value: encodeRecord(round) },
		],
	);
	await settle();
	expect(read).toHaveLength(1);
	expect(read[0]?.entries.get(KEYS.round)?.value).toContain('"deprecated":1');
	// Only the one for the change itself.
	expect(store.known).toHaveLength(1);
	coordinator.close();
});

it("plans by what its own agent has read back, without a look", async () => {
	const reasons: string[] = [];
	const { store, coordinator } = await coordinating(
		{},
		{ onPlanReason: (reason) => void reasons.push(reason) },
	);
	const { selectors = [], take = () => {} } = coordinator.reader ?? {};
	expect(selectors).toEqual(KEYS.coordinating(1));
	const { entries, revision } = await store.snapshot(selectors);
	const value = encodeRecord(nodeRecord("a", { claim: 2 }));
	const node = { key: KEYS.node("a"), value, createRevision: revision + 1 };
	const entry = { ...node, modRevision: revision + 1, lease: "lease" };
	store.known.length = 0;
	take({
		revision: revision + 1,
		entries: new Map([...entries, [entry.key, entry]]),
	});
	await settle();
	expect(reasons).toEqual(["0 of at least 1 nodes are ready", "round 2: a"]);
	expect(store.known).toEqual([]);
	coordinator.close();
});

it("D1 cares once for a node that is to be replaced, though its agent reads back late what was there before", async () => {
	const cared: string[] = [];
	let before: Snapshot | undefined;
	const { store, coordinator } = await coordinating(
		{ fencingToken: { createRevision: 3, value: "a" } },
		{
			onReplace: ({ nodeId }) => {
				cared.push(nodeId);
				if (before) coordinator.reader?.take(before);
			},
		},
	);
	await store.transaction([], [{ put: KEYS.coordinator, value: "a" }]);
	const own = { put: KEYS.node("a"), value: encodeRecord(nodeRecord("a")) };
	store.meanwhile = async () => {
		await store.transaction([], [own]);
		before = await store.snapshot(coordinator.reader?.selectors ?? []);
	};
	const value = encodeRecord<ReplacedRecord>({
		...{ version: 1, nodeId: "b", incarnation: "b-1", hostId: "host" },
		...{ address: "b", role: "default", reason: "rule 1", at: 5 },
	});
	await store.transaction([], [{ put: KEYS.replacedNode("b"), value }, own]);
	await settle();
	expect(before).toBeDefined();
	expect(cared).toEqual(["b"]);
	coordinator.close();
});

it("passes over what was read back for a round before", async () => {
	const { store, coordinator } = await coordinating();
	const { selectors = [], take = () => {} } = coordinator.reader ?? {};
	const value = encodeRecord(roundRecord({ synced: 2, deprecated: 2 }));
	await store.transaction([], [{ put: KEYS.round, value }]);
	await settle();
	store.known.length = 0;
	take({ ...(await store.snapshot(selectors)), revision: 1_000 });
	await store.transaction([], [{ put: KEYS.round, value }]);
	await settle();
	expect(store.known.at(-1)?.revision).toBeLessThan(1_000);
	coordinator.close();
});

it("tells by its own clock since when a round runs that it has lifted, also where all run before it looks", async () => {
	const node = (change: Partial<NodeRecord>) => ({
		put: KEYS.node("a"),
		value: encodeRecord(nodeRecord("a", { claim: 2, ...change })),
	});
	const { store, coordinator } = await coordinating({
		fencingToken: { createRevision: 3, value: "a" },
		own: ownReader(({ entries }) => {
			if (entries.get(KEYS.round)?.value.includes('"synced":2,"deprecated":1'))
				void store.transaction([], [node({ state: "running", since: 5_000 })]);
		}),
	});
	await store.transaction([], [{ put: KEYS.coordinator, value: "a" }]);
	await store.transaction([], [node({})]);
	await settle();
	await store.transaction([], [{ delete: KEYS.node("a") }]);
	await settle();
	const key = KEYS.historyOf(2);
	const line = (await store.snapshot([key])).entries.get(key);
	expect(line && JSON.parse(line.value)).toMatchObject({
		round: 2,
		startedAt: 0,
		endedAt: 0,
	});
	coordinator.close();
});
