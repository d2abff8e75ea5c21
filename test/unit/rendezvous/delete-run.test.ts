import { expect, it } from "vitest";
import { deleteRun } from "../../../src/rendezvous/records/delete-run.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import { encodeRecord } from "../../../src/rendezvous/records/record-codec.js";
import type { Compare, Write } from "../../../src/store/store.js";
import { LeasedStore } from "../../helpers/leased-store.js";
import { roundRecord } from "../../helpers/run-view.js";

const keys = new RunKeys("r");
const ROUND = { put: keys.round, value: encodeRecord(roundRecord()) };
const lines = Array.from({ length: 230 }, (_, index) => ({
	put: keys.historyOf(index + 1),
	value: "{}",
}));

/** A store in which something comes right before the n-th transaction. */
class RacedStore extends LeasedStore {
	private count = 0;

	constructor(
		private readonly at: number,
		private readonly raced: Write,
	) {
		super();
	}

	/** Without counting. */
	fill(writes: readonly Write[]) {
		return super.transaction([], writes);
	}

	override async transaction(compares: Compare[], writes: Write[]) {
		this.count += 1;
		if (this.count === this.at) await this.fill([this.raced]);
		return super.transaction(compares, writes);
	}
}

const NEVER = { put: "/elastic-run/r.2/round", value: "x" };
const namesIn = async (store: LeasedStore) => {
	const { entries } = await store.snapshot(["/elastic-run/"]);
	return [...entries.keys()];
};

it("deletes all keys of a run, in transactions that a store takes, and no other run's", async () => {
	const store = new RacedStore(0, NEVER);
	await store.fill([NEVER, ROUND, ...lines]);
	expect(await deleteRun(store, keys)).toBe(true);
	expect(await namesIn(store)).toEqual([NEVER.put]);
});
