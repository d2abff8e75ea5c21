import { describe, expect, it } from "vitest";
import { readSnapshot } from "../../../../src/store/etcd/codec.js";
import type {
	TxnRequest,
	TxnResponse,
} from "../../../../src/store/etcd/etcd-client.js";

interface Held {
	readonly value: string;
	readonly created: number;
	readonly changed: number;
}

/** What etcd answers to the reading of ranges, and how it is asked. */
class Ranges {
	revision = 0;
	readonly held = new Map<string, Held>();
	/** For each request how many entries went over the wire. */
	readonly sent: number[] = [];

	put(key: string, value: string): void {
		this.revision += 1;
		const created = this.held.get(key)?.created ?? this.revision;
		this.held.set(key, { value, created, changed: this.revision });
	}

	delete(key: string): void {
		this.revision += 1;
		this.held.delete(key);
	}

	readonly send = async ({ success }: TxnRequest): Promise<TxnResponse> => {
		const responses = (success ?? []).map(({ request_range }) => {
			const { key, range_end, min_mod_revision = 0 } = request_range ?? {};
			const [from, to] = [String(key), range_end && String(range_end)];
			const inRange = [...this.held].filter(([name]) =>
				to === undefined ? name === from : name >= from && name < to,
			);
			const shown = inRange.filter(
				([, { changed }]) => changed >= Number(min_mod_revision),
			);
			return {
				response_range: {
					count: String(inRange.length),
					kvs: shown.map(([name, { value, created, changed }]) => ({
						key: Buffer.from(name),
						value: Buffer.from(value),
						create_revision: String(created),
						mod_revision: String(changed),
						lease: "0",
					})),
				},
			};
		});
		this.sent.push(
			responses.reduce(
				(sum, { response_range }) => sum + response_range.kvs.length,
				0,
			),
		);
		const header = { revision: String(this.revision) };
		return { header, responses } as unknown as TxnResponse;
	};
}

describe("a snapshot of which a part is known", () => {
	const SELECTORS = ["/r/round", "/r/nodes/", "/r/absent"];

	async function known() {
		const ranges = new Ranges();
		for (const name of ["a", "b", "c"]) ranges.put(`/r/nodes/${name}`, name);
		ranges.put("/r/round", "1");
		ranges.put("/r/else", "");
		const snapshot = await readSnapshot(SELECTORS, undefined, ranges.send);
		ranges.sent.length = 0;
		return { ranges, snapshot };
	}
	const valuesOf = async (
		{ ranges, snapshot }: Awaited<ReturnType<typeof known>>,
		selectors = SELECTORS,
	) => {
		const whole = await readSnapshot(selectors, undefined, ranges.send);
		ranges.sent.length = 0;
		const merged = await readSnapshot(selectors, snapshot, ranges.send);
		expect(merged.revision).toBe(whole.revision);
		expect(new Set(merged.entries.values())).toEqual(
			new Set(whole.entries.values()),
		);
		return merged;
	};

	it("fetches only what has changed, and what has come", async () => {
		const before = await known();
		before.ranges.put("/r/nodes/b", "b2");
		before.ranges.put("/r/nodes/d", "d");
		const { entries } = await valuesOf(before);
		expect(before.ranges.sent).toEqual([2]);
		expect(entries.get("/r/nodes/a")).toBe(
			before.snapshot.entries.get("/r/nodes/a"),
		);
	});

	it("fetches all where something was deleted, also where something else came", async () => {
		const before = await known();
		before.ranges.delete("/r/nodes/b");
		before.ranges.put("/r/nodes/d", "d");
		await valuesOf(before);
		expect(before.ranges.sent).toEqual([1, 4]);
	});

	it("knows by its count that a single key is gone, or all of a prefix", async () => {
		const before = await known();
		before.ranges.delete("/r/round");
		await valuesOf(before);
		expect(before.ranges.sent).toEqual([0]);
		for (const name of ["a", "b", "c"])
			before.ranges.delete(`/r/nodes/${name}`);
		await valuesOf(before);
		expect(before.ranges.sent).toEqual([0]);
		await valuesOf(before, ["/r/nodes/", "/r/nodes/a", "/r/round"]);
		expect(before.ranges.sent).toEqual([0]);
	});

	it("fetches all from an etcd whose revisions are lower: it is another one", async () => {
		const { ranges, snapshot } = await known();
		const empty = new Ranges();
		for (const [key, { value }] of ranges.held) {
			if (key !== "/r/else") empty.put(key, `other ${value}`);
		}
		await valuesOf({ ranges: empty, snapshot });
		expect(empty.sent).toEqual([0, 4]);
	});
});
