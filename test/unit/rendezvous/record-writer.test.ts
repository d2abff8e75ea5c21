import { beforeEach, describe, expect, it } from "vitest";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import {
	decodeRecord,
	encodeRecord,
} from "../../../src/rendezvous/records/record-codec.js";
import {
	type GuardedRecord,
	RecordWriter,
} from "../../../src/rendezvous/records/record-writer.js";
import {
	NODE,
	type NodeFailure,
	ROUND,
	type RoundRecord,
} from "../../../src/rendezvous/records/records.js";
import { readRunView } from "../../../src/rendezvous/records/run-view.js";
import { MemoryStore } from "../../../src/store/memory-store.js";
import type { Reader, Snapshot } from "../../../src/store/store.js";
import { agentIdentity, intentOf } from "../../helpers/run-settings.js";
import { roundRecord } from "../../helpers/run-view.js";

const KEYS = new RunKeys("r");

class CountingStore extends MemoryStore {
	readonly asked: string[] = [];

	override snapshot(selectors: readonly string[]) {
		this.asked.push("look");
		return super.snapshot(selectors);
	}

	override transaction(...args: Parameters<MemoryStore["transaction"]>) {
		this.asked.push("write");
		return super.transaction(...args);
	}
}

const FAILURE: NodeFailure = {
	charge: "run",
	failsRun: null,
	failure: {
		id: "a/a-1/1",
		nodeId: "a",
		round: 1,
		rank: 0,
		localRank: 0,
		role: "default",
		pid: 1,
		exitCode: 1,
		signal: null,
		uptimeMs: 1,
		timestamp: 0,
		description: "exit code 1",
	},
};

describe("the writer of an agent's record", () => {
	let store: CountingStore;
	let writer: RecordWriter;
	let readBack: Snapshot[];
	let planner: Reader | undefined;
	let relayed: GuardedRecord[];
	let relay: (own: GuardedRecord) => Promise<number | undefined>;

	const put = (round: RoundRecord) =>
		store.transaction([], [{ put: KEYS.round, value: encodeRecord(round) }]);
	const own = async () => {
		const { entries } = await store.snapshot([KEYS.node("a")]);
		const entry = entries.get(KEYS.node("a"));
		return entry && decodeRecord(NODE, entry);
	};
	const look = async () => {
		const { entries } = await store.snapshot([KEYS.round, KEYS.node("a")]);
		const entry = entries.get(KEYS.round);
		if (entry === undefined) throw new Error("there is no round");
		writer.see({
			round: decodeRecord(ROUND, entry),
			roundRevision: entry.modRevision,
			present: entries.get(KEYS.node("a")),
		});
		store.asked.length = 0;
	};
	/** Makes the record stand, and the writer know of this round. */
	const standIn = async (round: RoundRecord) => {
		await put(round);
		await look();
		writer.want(intentOf({ state: "running" }));
		expect(await writer.write()).toBe(false);
		store.asked.length = 0;
	};

	beforeEach(async () => {
		store = new CountingStore();
		readBack = [];
		planner = undefined;
		relayed = [];
		relay = async () => undefined;
		const lease = await store.openLease(5_000);
		writer = new RecordWriter({
			store,
			keys: KEYS,
			lease,
			identity: agentIdentity(),
			own: {
				selectors: [KEYS.round],
				take: (read) => void readBack.push(read),
			},
			planner: () => planner,
			reservePort: async () => 4_000,
			relay: {
				write(own) {
					relayed.push(own);
					return relay(own);
				},
			},
		});
	});

	describe("A6 with a relay", () => {
		beforeEach(() => standIn(roundRecord({ synced: 1, deprecated: 1 })));

		it("leaves a plain record to it", async () => {
			relay = async () => 77;
			writer.want(intentOf({ state: "ready", claim: 2 }));
			expect(await writer.write()).toBe(false);
			expect(relayed).toMatchObject([
				{ present: 3, record: { state: "ready" } },
			]);
			writer.want(intentOf({ state: "running", claim: 2 }));
			await writer.write();
			expect(relayed[1]).toMatchObject({ present: 77 });
			expect(store.asked).toEqual([]);
		});

		it("writes itself what the relay has not written", async () => {
			writer.want(intentOf({ state: "ready", claim: 2 }));
			expect(await writer.write()).toBe(false);
			expect(relayed).toHaveLength(1);
			expect(store.asked).toEqual(["write"]);
		});

		it("writes itself what the relay has not written although it says so, once it has looked", async () => {
			relay = async () => 77;
			writer.want(intentOf({ state: "ready", claim: 2 }));
			await writer.write();
			relay = async () => undefined;
			await look();
			expect(await writer.write()).toBe(false);
			expect(store.asked).toEqual(["write"]);
		});

		it.each<[string, Partial<Parameters<typeof intentOf>[0]>]>([
			["that it leaves", { state: "leaving" }],
			["that it has finished", { state: "finished", finishedPlan: "p" }],
		])("tells the store itself %s", async (_, intent) => {
			writer.want(intentOf({ claim: 2, ...intent }));
			await writer.write();
			expect(relayed).toEqual([]);
		});

		it("makes a deleted record itself", async () => {
			await store.transaction([], [{ delete: KEYS.node("a") }]);
			await look();
			writer.want(intentOf({ state: "ready", claim: 2 }));
			await writer.write();
			expect(relayed).toEqual([]);
		});
	});

	it("A6 reports a failure itself, with a relay as well", async () => {
		await standIn(roundRecord({ synced: 1 }));
		relayed = [];
		writer.want(intentOf({ claim: 2, failure: FAILURE }));
		await writer.write();
		expect(relayed).toEqual([]);
	});

	it("leaves behind that this process has left in order, and whose place that was", async () => {
		await standIn(roundRecord({ synced: 1 }));
		const left = async () => {
			const snapshot = await store.snapshot([KEYS.round, KEYS.left]);
			return readRunView(KEYS, snapshot)?.left;
		};
		expect(await left()).toEqual(new Map());
		writer.want(intentOf({ state: "leaving", claim: 2 }));
		await writer.write();
		const { nodeId, incarnation } = agentIdentity();
		expect(await left()).toEqual(new Map([[nodeId, incarnation]]));
	});

	it("asks for a look where the round has changed, tells what it has read back, and then writes what still holds", async () => {
		await standIn(roundRecord({ synced: 1 }));
		await put(roundRecord({ synced: 1, deprecated: 1 }));
		writer.want(intentOf({ state: "stopping", claim: 2 }));
		expect(readBack).toEqual([]);
		expect(await writer.write()).toBe(true);
		expect((await own())?.state).toBe("running");
		expect(readBack).toHaveLength(1);
		expect(readBack[0]?.entries.has(KEYS.round)).toBe(true);
		expect(await writer.write()).toBe(true);
		await look();
		expect(await writer.write()).toBe(false);
		expect((await own())?.state).toBe("stopping");
		expect(await writer.write()).toBe(false);
		expect(store.asked).toEqual(["write", "look"]);
	});

	it("reads back what it has written for who goes by it, and not where it was refused", async () => {
		await standIn(roundRecord({ synced: 1 }));
		const taken: Snapshot[] = [];
		planner = {
			selectors: [KEYS.nodes],
			take: (read) => void taken.push(read),
		};
		writer.want(intentOf({ state: "leaving", claim: 2 }));
		expect(await writer.write()).toBe(false);
		expect(taken).toEqual([await store.snapshot([KEYS.nodes])]);
		expect(taken[0]?.entries.get(KEYS.node("a"))?.value).toContain("leaving");
		await put(roundRecord({ synced: 2 }));
		writer.want(intentOf({ state: "stopping", claim: 2 }));
		expect(await writer.write()).toBe(true);
		expect(taken).toHaveLength(1);
	});

	it("tells of the part that is done once that stands, and asks for a look to show it", async () => {
		await standIn(roundRecord({ synced: 1, planId: "plan-1" }));
		expect(writer.finishedPlan).toBeNull();
		writer.want(intentOf({ state: "finished", finishedPlan: "plan-1" }));
		expect(writer.finishedPlan).toBeNull();
		expect(await writer.write()).toBe(true);
		expect(writer.finishedPlan).toBe("plan-1");
		expect(readBack).toHaveLength(1);
		await look();
		expect(await writer.write()).toBe(false);
	});

	const running = { synced: 1, deprecated: 0, seats: 1_000 };
	const left = { ...running, deprecated: 1 };
	it.each([
		["that it is ready", left, { state: "ready" }, 0],
		["that it ends workers of a round that is left", left, {}, 200],
		["that it leaves a round by itself", running, {}, 0],
		["why a worker failed", left, { failure: FAILURE }, 0],
		["that it leaves the run", left, { state: "leaving" }, 0],
		["that it has done its part", running, { state: "finished" }, 0],
		["that it runs", running, { state: "running" }, 200],
		[
			"that it runs, with one other",
			{ ...running, seats: 2 },
			{ state: "running" },
			0,
		],
	] as const)("may wait to say %s", async (_, round, part, patienceMs) => {
		await standIn(roundRecord(round));
		writer.want(intentOf({ state: "stopping", claim: 2, ...part }));
		expect(writer.patienceMs).toBe(patienceMs);
	});
});
