import { beforeEach, expect, it } from "vitest";
import { endLeaseOfDead } from "../../../src/rendezvous/member/end-dead.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import { encodeRecord } from "../../../src/rendezvous/records/record-codec.js";
import { MemoryStore } from "../../../src/store/memory-store.js";
import { nodeRecord, roundRecord } from "../../helpers/run-view.js";

const keys = new RunKeys("r");
const DEAD = { nodeId: "a", incarnation: "a-1" };
const KEYS = [keys.node("a"), keys.coordinator];

let store: MemoryStore;

beforeEach(async () => {
	store = await storeOfRun();
});

async function storeOfRun() {
	const made = new MemoryStore();
	const value = encodeRecord(roundRecord());
	await made.transaction([], [{ put: keys.round, value }]);
	return made;
}

/** An agent of this node has its record, and coordinates. */
async function join(incarnation: string) {
	const lease = await store.openLease(5_000);
	const value = encodeRecord(nodeRecord("a", { incarnation }));
	await store.transaction(
		[],
		KEYS.map((put) => ({ put, value, lease: lease.id })),
	);
	return lease;
}

const standing = async () => (await store.snapshot(KEYS)).entries;

it("ends a dead agent's record and its part as coordinator in one revision", async () => {
	await join(DEAD.incarnation);
	const { revision } = await store.snapshot(KEYS);
	expect(await endLeaseOfDead(store, keys, DEAD)).toBe(true);
	expect((await standing()).size).toBe(0);
	// That it died is written first.
	expect((await store.snapshot(KEYS)).revision).toBe(revision + 2);
	const said = (await store.snapshot([keys.left])).entries;
	expect(JSON.parse(said.get(keys.leftBy("a"))?.value ?? "")).toMatchObject({
		...{ incarnation: DEAD.incarnation, died: true },
	});
});

it("leaves alone the next process of the node, also where that comes as the lease is looked up", async () => {
	await join("a-2");
	expect(await endLeaseOfDead(store, keys, DEAD)).toBe(false);
	expect((await standing()).size).toBe(2);
	const raced = await storeOfRun();
	store = raced;
	await join(DEAD.incarnation);
	const lookUp = {
		snapshot: async (selectors: readonly string[]) => {
			const seen = await raced.snapshot(selectors);
			await join("a-2");
			return seen;
		},
		transaction: (...asked: Parameters<MemoryStore["transaction"]>) =>
			raced.transaction(...asked),
		endLease: (id: string) => raced.endLease(id),
	};
	expect(await endLeaseOfDead(lookUp, keys, DEAD)).toBe(false);
	expect((await standing()).size).toBe(2);
	expect((await store.snapshot([keys.left])).entries.size).toBe(0);
});

it.each([
	["says only that it died where its lease has ended already", true],
	["says nothing of a run that is not there any more", false],
])("%s", async (_, isThere) => {
	await (await join(DEAD.incarnation)).revoke();
	if (!isThere) await store.transaction([], [{ delete: keys.round }]);
	expect(await endLeaseOfDead(store, keys, DEAD)).toBe(false);
	const said = await store.snapshot([keys.left]);
	expect(said.entries.size).toBe(isThere ? 1 : 0);
});
