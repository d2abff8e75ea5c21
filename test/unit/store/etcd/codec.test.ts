import { describe, expect, it } from "vitest";
import {
	decodeSnapshot,
	encodeRange,
	encodeTransaction,
	revisionOf,
} from "../../../../src/store/etcd/codec.js";
import type { TxnResponse } from "../../../../src/store/etcd/etcd-client.js";

describe("a selector", () => {
	it("is one key, or all that begin with it where it ends with a slash", () => {
		expect(encodeRange("/run/a")).toEqual({ key: Buffer.from("/run/a") });
		expect(encodeRange("/run/nodes/")).toEqual({
			key: Buffer.from("/run/nodes/"),
			range_end: Buffer.from("/run/nodes0"),
		});
	});
});

describe("a transaction", () => {
	it("is written as etcd wants it", () => {
		const key = Buffer.from("a");
		expect(
			encodeTransaction(
				[
					{ key: "a", createRevision: 0 },
					{ key: "a", modRevision: 7 },
				],
				[
					{ put: "a", value: "ü", lease: "9223372036854775807" },
					{ put: "a", value: "" },
					{ delete: "a" },
				],
				{ made: ["a", "b/"], refused: ["c"] },
			),
		).toEqual({
			compare: [
				{ key, result: "Equal", target: "Create", create_revision: 0 },
				{ key, result: "Equal", target: "Mod", mod_revision: 7 },
			],
			success: [
				{
					request_put: {
						key,
						value: Buffer.from("ü"),
						lease: "9223372036854775807",
					},
				},
				{ request_put: { key, value: Buffer.alloc(0), lease: "0" } },
				{ request_delete_range: { key } },
				{ request_range: { key } },
				{
					request_range: {
						key: Buffer.from("b/"),
						range_end: Buffer.from("b0"),
					},
				},
			],
			failure: [{ request_range: { key: Buffer.from("c") } }],
		});
	});
});

describe("a snapshot", () => {
	it("joins what all selectors matched", () => {
		const kv = (key: string, lease: string) => ({
			key: Buffer.from(key),
			value: Buffer.from("v"),
			create_revision: "3",
			mod_revision: "4",
			version: "2",
			lease,
		});
		const answer = {
			header: { revision: "9007199254740991" },
			responses: [
				{ response_range: { kvs: [kv("b", "0"), kv("a", "12")] } },
				{ response_range: { kvs: [] } },
				{ response_range: { kvs: [kv("b", "0")] } },
			],
		} as unknown as TxnResponse;
		const { revision, entries } = decodeSnapshot(answer);
		expect(revision).toBe(2 ** 53 - 1);
		expect([...entries.values()]).toEqual([
			{ key: "b", value: "v", createRevision: 3, modRevision: 4, lease: null },
			{ key: "a", value: "v", createRevision: 3, modRevision: 4, lease: "12" },
		]);
	});
});

describe("a revision", () => {
	it.each([
		["0", 0],
		["9007199254740991", 9_007_199_254_740_991],
	])("%s is a number", (decimal, number) => {
		expect(revisionOf(decimal)).toBe(number);
	});

	it.each([
		"9007199254740992",
		"9223372036854775807",
		"x",
	])("%s is refused", (decimal) => {
		expect(() => revisionOf(decimal)).toThrow(
			expect.objectContaining({ code: "INTERNAL" }),
		);
	});
});
