import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Compare, Lease, Store } from "../../src/store/store.js";

/** A store that is empty below `prefix`, which ends with "/". */
export interface StoreUnderTest {
	readonly store: Store;
	readonly prefix: string;
	close(): Promise<void>;
}

/** What every store must do, whatever is behind it. */
export function describeStore(
	name: string,
	open: () => Promise<StoreUnderTest>,
): void {
	describe(`${name} as a store`, () => {
		let under: StoreUnderTest;
		let store: Store;
		const key = (suffix: string) => under.prefix + suffix;
		const openLease = (): Promise<Lease> =>
			store.openLease(5_000, { onLost() {} });
		const put = (suffix: string, value: string) =>
			store.transaction([], [{ put: key(suffix), value }]);
		const get = async (suffix: string) =>
			(await store.snapshot([key(suffix)])).entries.get(key(suffix));

		beforeEach(async () => {
			under = await open();
			store = under.store;
		});
		afterEach(() => under.close());

		it("gives each transaction a higher revision, and keys the revisions of their making and last change", async () => {
			const first = await put("a", "1");
			const second = await put("a", "2");
			expect(second.revision).toBeGreaterThan(first.revision);
			expect(await get("a")).toEqual({
				key: key("a"),
				value: "2",
				createRevision: first.revision,
				modRevision: second.revision,
				lease: null,
			});
		});

		it("counts a key's changes from one again after its deletion", async () => {
			await put("a", "1");
			await store.transaction([], [{ delete: key("a") }]);
			expect(await get("a")).toBeUndefined();
			const again = await put("a", "2");
			expect((await get("a"))?.createRevision).toBe(again.revision);
		});

		it("shows a prefix and single keys at one revision, and nothing beside them", async () => {
			await put("n/a", "1");
			await put("n/b", "2");
			await put("n", "not below the prefix");
			await put("other", "3");
			const last = await put("round", "4");
			const { entries, revision } = await store.snapshot([
				key("n/"),
				key("round"),
				key("absent"),
			]);
			expect([...entries.keys()].sort()).toEqual(
				[key("n/a"), key("n/b"), key("round")].sort(),
			);
			expect(revision).toBeGreaterThanOrEqual(last.revision);
		});

		it("draws the line of a prefix at its slash, and shows a key once however often it is selected", async () => {
			for (const suffix of ["n/a", "n", "n.", "n0", "n/a/b", "m/z"]) {
				await put(suffix, "");
			}
			const { entries } = await store.snapshot([
				key("n/"),
				key("n/a/"),
				key("n/a"),
			]);
			expect([...entries.keys()].sort()).toEqual([key("n/a"), key("n/a/b")]);
		});

		it("shows the same whatever was known before", async () => {
			const selectors = [key("n/"), key("round"), key("absent")];
			for (const name of ["n/a", "n/b", "n/c", "round"]) await put(name, "1");
			let known = await store.snapshot(selectors);
			const remove = (suffix: string) =>
				store.transaction([], [{ delete: key(suffix) }]);
			const changes: readonly (() => Promise<unknown>)[] = [
				() => put("n/b", "2"),
				() => put("n/d", "1"),
				() => remove("n/a"),
				() => remove("n/b").then(() => put("n/b", "3")),
				() => remove("n/c").then(() => put("n/e", "1")),
				() => put("absent", "1"),
				() => put("other", "1"),
				() => remove("round"),
				async () => {},
			];
			for (const change of changes) {
				await change();
				const whole = await store.snapshot(selectors);
				known = await store.snapshot(selectors, known);
				expect(new Map(known.entries)).toEqual(new Map(whole.entries));
				expect(known.revision).toBe(whole.revision);
			}
		});

		it("keeps values as they are", async () => {
			const values = ["", "{}", "ü\n\0€𝄞", "x".repeat(1_000_000)];
			for (const [n, value] of values.entries()) await put(`${n}`, value);
			const { entries } = await store.snapshot([under.prefix]);
			expect(values.map((_, n) => entries.get(key(`${n}`))?.value)).toEqual(
				values,
			);
		});

		it("takes 128 conditions and 128 writes", async () => {
			const keys = Array.from({ length: 128 }, (_, n) => key(`many/${n}`));
			const absent = keys.map((each) => ({ key: each, createRevision: 0 }));
			const writes = keys.map((each) => ({ put: each, value: "1" }));
			const first = await store.transaction(absent, writes);
			expect(first.succeeded).toBe(true);
			expect((await store.transaction(absent, writes)).succeeded).toBe(false);
			const { entries } = await store.snapshot([key("many/")]);
			expect(entries.size).toBe(128);
		});

		it("compares the last change apart from the making", async () => {
			const made = await put("a", "1");
			const changed = await put("a", "2");
			const holds = async (compare: Compare) =>
				(await store.transaction([compare], [])).succeeded;
			const a = key("a");
			expect(await holds({ key: a, createRevision: made.revision })).toBe(true);
			expect(await holds({ key: a, modRevision: changed.revision })).toBe(true);
			expect(await holds({ key: a, modRevision: made.revision })).toBe(false);
			expect(await holds({ key: a, createRevision: changed.revision })).toBe(
				false,
			);
			expect(await holds({ key: key("absent"), modRevision: 0 })).toBe(true);
		});

		it("compares the value as well, where it is asked to", async () => {
			const { revision: createRevision } = await put("a", "1");
			const holds = async (compare: Compare) =>
				(await store.transaction([compare], [])).succeeded;
			const a = key("a");
			expect(await holds({ key: a, createRevision, value: "1" })).toBe(true);
			expect(await holds({ key: a, createRevision, value: "2" })).toBe(false);
			expect(
				await holds({ key: a, createRevision: createRevision + 1, value: "1" }),
			).toBe(false);
		});

		it("makes all writes of a transaction in one revision", async () => {
			const { revision } = await store.transaction(
				[],
				[
					{ put: key("a"), value: "1" },
					{ put: key("b"), value: "2" },
				],
			);
			expect((await get("a"))?.modRevision).toBe(revision);
			expect((await get("b"))?.modRevision).toBe(revision);
		});

		it("makes none of them where one condition does not hold", async () => {
			await put("a", "1");
			const result = await store.transaction(
				[
					{ key: key("absent"), createRevision: 0 },
					{ key: key("a"), createRevision: 0 },
				],
				[{ put: key("b"), value: "2" }, { delete: key("a") }],
			);
			expect(result.succeeded).toBe(false);
			expect(await get("a")).toBeDefined();
			expect(await get("b")).toBeUndefined();
		});

		it("reads back what a transaction has left", async () => {
			await put("n/a", "1");
			await put("n/b", "1");
			await put("other", "1");
			const writes = [
				{ put: key("n/a"), value: "2" },
				{ put: key("round"), value: "new" },
				{ delete: key("n/b") },
			];
			const made = [key("n/"), key("round"), key("absent")];
			const { read, revision } = await store.transaction([], writes, {
				made,
				refused: [key("other")],
			});
			expect(read).toEqual(await store.snapshot(made));
			expect(read?.revision).toBe(revision);
			expect(read?.entries.get(key("n/a"))?.modRevision).toBe(revision);
			expect([...(read?.entries.keys() ?? [])].sort()).toEqual([
				key("n/a"),
				key("round"),
			]);
		});

		it("reads back what there is where a condition does not hold", async () => {
			await put("a", "1");
			await put("n/a", "1");
			const refused = [key("n/"), key("a")];
			const { read } = await store.transaction(
				[{ key: key("a"), createRevision: 0 }],
				[{ put: key("b"), value: "2" }],
				{ made: [key("b")], refused },
			);
			expect(read).toEqual(await store.snapshot(refused));
			expect(read?.entries.size).toBe(2);
		});

		it("reads nothing back unless it is asked to", async () => {
			await put("a", "1");
			const absent = [{ key: key("a"), createRevision: 0 }];
			const made = [key("a")];
			const results = [
				await store.transaction([], []),
				await store.transaction(absent, [], { made }),
				await store.transaction([], [], { refused: made }),
			];
			expect(results.map(({ read }) => read)).toEqual([
				undefined,
				undefined,
				undefined,
			]);
		});

		it("lets one of two writers that saw the same revision win", async () => {
			const { revision } = await put("a", "0");
			const seen = { key: key("a"), modRevision: revision };
			const results = await Promise.all([
				store.transaction([seen], [{ put: key("a"), value: "left" }]),
				store.transaction([seen], [{ put: key("a"), value: "right" }]),
			]);
			expect(results.map(({ succeeded }) => succeeded).sort()).toEqual([
				false,
				true,
			]);
		});

		it("ends all keys of a lease in one revision when it is revoked", async () => {
			const lease = await openLease();
			await store.transaction(
				[],
				[
					{ put: key("a"), value: "1", lease: lease.id },
					{ put: key("b"), value: "2", lease: lease.id },
				],
			);
			await put("c", "3");
			expect((await get("a"))?.lease).toBe(lease.id);
			await lease.revoke();
			expect(await get("a")).toBeUndefined();
			expect(await get("b")).toBeUndefined();
			expect(await get("c")).toBeDefined();
		});

		it("lets a key go over to another lease, or to none", async () => {
			const [first, second] = [await openLease(), await openLease()];
			const putUnder = (suffix: string, lease?: Lease) =>
				store.transaction(
					[],
					[{ put: key(suffix), value: "1", lease: lease?.id }],
				);
			for (const suffix of ["a", "b", "c"]) await putUnder(suffix, first);
			await putUnder("b", second);
			await putUnder("c");
			await first.revoke();
			const { entries } = await store.snapshot([under.prefix]);
			expect([...entries.values()].map(({ lease }) => lease)).toEqual([
				second.id,
				null,
			]);
		});

		it("grants at least the life that was asked for, from now on", async () => {
			const before = performance.now();
			const lease = await openLease();
			expect(lease.ttlMs).toBeGreaterThanOrEqual(5_000);
			expect(lease.expiresAt).toBeGreaterThanOrEqual(before + lease.ttlMs);
		});

		it("ends a lease for anybody who names it, and takes an ended one for no error", async () => {
			const lease = await openLease();
			await store.transaction(
				[],
				[{ put: key("a"), value: "1", lease: lease.id }],
			);
			await store.endLease(lease.id);
			expect(await get("a")).toBeUndefined();
			await store.endLease(lease.id);
			await lease.revoke();
		});

		it("refuses to write under a lease that has ended", async () => {
			const lease = await openLease();
			await lease.revoke();
			await expect(
				store.transaction([], [{ put: key("a"), value: "1", lease: lease.id }]),
			).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
			expect(await get("a")).toBeUndefined();
		});

		it("hints at changes that came between a snapshot and the watch", async () => {
			const { revision } = await store.snapshot([under.prefix]);
			await put("n/a", "1");
			await hintOf(store, [key("n/")], revision);
		});

		it("hints at puts, deletions and the end of a lease", async () => {
			const lease = await openLease();
			const changes = [
				() => put("n/a", "1"),
				() => store.transaction([], [{ delete: key("n/a") }]),
				() =>
					store.transaction(
						[],
						[{ put: key("n/b"), value: "2", lease: lease.id }],
					),
				() => lease.revoke(),
			];
			for (const change of changes) {
				const { revision } = await store.snapshot([under.prefix]);
				const hinted = hintOf(store, [key("n/")], revision);
				await change();
				await hinted;
			}
		});

		it("hints each of several watches, and goes on when one is closed", async () => {
			const { revision } = await store.snapshot([under.prefix]);
			const closed = store.watch([key("n/")], revision, () => {});
			const both = [
				hintOf(store, [key("n/a")], revision),
				hintOf(store, [key("other"), key("n/")], revision),
			];
			closed.close();
			await put("n/a", "1");
			await Promise.all(both);
		});

		it("names a revision in which what it tells of is to be read, or none", async () => {
			const { revision } = await store.snapshot([under.prefix]);
			const hinted = new Promise<number | undefined>((resolve) => {
				store.watch([key("n/")], revision, resolve);
			});
			const { revision: changedAt } = await store.transaction(
				[],
				[{ put: key("n/a"), value: "1" }],
			);
			const named = (await hinted) ?? Number.POSITIVE_INFINITY;
			expect(named).toBeGreaterThanOrEqual(changedAt);
		});

		it("hints no more once a watch is closed", async () => {
			const { revision } = await store.snapshot([under.prefix]);
			let hints = 0;
			const watch = store.watch([key("a")], revision, () => {
				hints += 1;
			});
			watch.close();
			const other = hintOf(store, [key("a")], revision);
			await put("a", "1");
			await other;
			expect(hints).toBe(0);
		});
	});
}

/** Resolves with the first hint. */
function hintOf(
	store: Store,
	selectors: readonly string[],
	afterRevision: number,
): Promise<void> {
	return new Promise((resolve) => {
		const watch = store.watch(selectors, afterRevision, () => {
			watch.close();
			resolve();
		});
	});
}
