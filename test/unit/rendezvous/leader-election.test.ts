import { beforeEach, describe, expect, it } from "vitest";
import { ElasticRunError } from "../../../src/base/errors.js";
import { LeaderElection } from "../../../src/rendezvous/member/leader-election.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import {
	decodeRecord,
	encodeRecord,
} from "../../../src/rendezvous/records/record-codec.js";
import {
	COORDINATOR,
	type NodeRecord,
	ROUND,
	type RoundRecord,
} from "../../../src/rendezvous/records/records.js";
import type { Snapshot } from "../../../src/store/store.js";
import { LeasedStore } from "../../helpers/leased-store.js";
import { runSpec } from "../../helpers/run-settings.js";
import { nodeRecord, roundRecord, seatRecord } from "../../helpers/run-view.js";
import { settle, VirtualClock } from "../../helpers/virtual-clock.js";

const KEYS = new RunKeys("r");

/** A store that counts how often it is read, and may take no writes. */
class CountingStore extends LeasedStore {
	looks = 0;

	/** When it was written to, while it takes no writes; undefined: it takes them. */
	refusedAt: number[] | undefined;

	constructor(private readonly now: () => number) {
		super();
	}

	override snapshot(selectors: readonly string[]) {
		this.looks += 1;
		return super.snapshot(selectors);
	}

	override async transaction(
		...request: Parameters<LeasedStore["transaction"]>
	) {
		if (this.refusedAt === undefined) return super.transaction(...request);
		this.refusedAt.push(this.now());
		throw new ElasticRunError("STORE_UNREACHABLE", "no space");
	}
}

describe("an agent that may have to coordinate", () => {
	let store: CountingStore;
	let clock: VirtualClock;
	let election: LeaderElection;
	let readBack: Snapshot[];
	let onFailed: () => void;
	let onError: (error: unknown) => void;

	const running = roundRecord({ synced: 1, planId: "plan-1", seats: 0 });
	const waits = { round: running, seat: null, isLeaving: false };
	const put = (key: string, record: NodeRecord | RoundRecord) =>
		store.transaction([], [{ put: key, value: encodeRecord(record) }]);
	const read = async (key: string) =>
		(await store.snapshot([key])).entries.get(key);
	const coordinator = async () => {
		const entry = await read(KEYS.coordinator);
		return entry && decodeRecord(COORDINATOR, entry).nodeId;
	};

	beforeEach(async () => {
		clock = new VirtualClock(0);
		store = new CountingStore(() => clock.now());
		onFailed = () => {};
		onError = (error) => {
			throw error;
		};
		readBack = [];
		const lease = await store.openLease(5_000);
		election = new LeaderElection({
			...{ store, clock, keys: KEYS, lease },
			identity: { nodeId: "a", incarnation: "a-1" },
			config: runSpec({ minNodes: 1, lastCallTimeoutMs: 0 }),
			random: () => 0.5,
			own: {
				selectors: KEYS.seenBy("a"),
				take: (each) => void readBack.push(each),
			},
			onFailed: () => onFailed(),
			coordinating: { onPlanReason: () => {}, onSkipped: () => {} },
			onError: (error) => onError(error),
		});
		await put(KEYS.round, running);
	});

	it.each([
		["at once where it is the first in rank", seatRecord("a"), 0],
		["after those before it", seatRecord("a", { groupRank: 3 }), 15],
		["at some moment where it has no seat", null, 125],
	])("stands %s", async (_, seat, delayMs) => {
		election.onLeaderSeen(undefined, { ...waits, seat });
		expect(clock.nextAlarm).toBe(delayMs);
		await clock.advance(delayMs);
		expect(await coordinator()).toBe("a");
	});

	it("stands long after all others where its node is leaving, and not at all where one of them does", async () => {
		const leaves = { ...waits, seat: seatRecord("a"), isLeaving: true };
		election.onLeaderSeen(undefined, leaves);
		expect(clock.nextAlarm).toBe(1_000);
		await clock.advance(500);
		const value = encodeRecord({ ...running, nodeId: "b", incarnation: "b-1" });
		await store.transaction([], [{ put: KEYS.coordinator, value }]);
		election.onLeaderSeen(await read(KEYS.coordinator), leaves);
		expect(clock.nextAlarm).toBeUndefined();
	});

	/** It is elected while all of its run wait for round 2; with what was read back. */
	const elect = async () => {
		await put(KEYS.round, { ...running, deprecated: 1 });
		await put(KEYS.node("a"), nodeRecord("a", { claim: 2 }));
		election.onLeaderSeen(undefined, { ...waits, seat: seatRecord("a") });
		await clock.advance(0);
		expect(readBack).toHaveLength(1);
		return readBack[0];
	};
	const synced = async () => {
		const round = await read(KEYS.round);
		return round && decodeRecord(ROUND, round).synced;
	};

	it("tells of a record that it cannot read as coordinator, and resigns, so that the next one finds it too", async () => {
		const errors: unknown[] = [];
		onError = (error) => void errors.push(error);
		await put(KEYS.node("b"), nodeRecord("b", { claim: 2.5 }));
		election.onLeaderSeen(undefined, { ...waits, seat: seatRecord("a") });
		await clock.advance(0);
		election.onLeaderSeen(await read(KEYS.coordinator), waits);
		await settle();
		expect(errors).toMatchObject([{ code: "RENDEZVOUS_FAILED" }]);
		expect(await read(KEYS.coordinator)).toBeUndefined();
	});

	it("does not plan by what was read back for an earlier term of its own", async () => {
		const own = (await elect())?.entries.get(KEYS.coordinator);
		await put(KEYS.node("a"), nodeRecord("a", { state: "stopping", claim: 2 }));
		await store.transaction([], [{ delete: KEYS.coordinator }]);
		const again = [{ put: KEYS.coordinator, value: own?.value ?? "" }];
		await store.transaction([], again);
		election.onLeaderSeen(await read(KEYS.coordinator), waits);
		await settle();
		expect(await synced()).toBe(1);
		election.close();
	});

	it("stands less and less often where the store is read and takes no writes, and at once again when it did", async () => {
		const seated = { ...waits, seat: seatRecord("a", { groupRank: 1 }) };
		onFailed = () => election.onLeaderSeen(undefined, seated);
		const refusedAt: number[] = [];
		store.refusedAt = refusedAt;
		election.onLeaderSeen(undefined, seated);
		await clock.advance(3_000);
		expect(refusedAt).toEqual([
			5, 47.5, 127.5, 282.5, 587.5, 1_192.5, 1_947.5, 2_702.5,
		]);
		store.refusedAt = undefined;
		await clock.advance(750);
		expect(await coordinator()).toBe("a");
		election.onLeaderSeen(await read(KEYS.coordinator), seated);
		await store.transaction([], [{ delete: KEYS.coordinator }]);
		election.onLeaderSeen(undefined, seated);
		expect(clock.nextAlarm).toBe(clock.now() + 5);
		election.close();
	});
});
