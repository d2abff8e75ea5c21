import { deflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import {
	LEARNED,
	modulesOf,
	recordOfModules,
} from "../../../src/rendezvous/records/learned-record.js";

describe("the list of what workers import", () => {
	it("comes back as it was, in its order", () => {
		const modules = ["torch", "torch.nn", "_io", "a.b_c.D1"];
		const record = recordOfModules({ modules, bytes: 3 });
		expect(LEARNED(record, {})).toBe(true);
		expect(record && modulesOf(record)).toEqual({ modules, bytes: 3 });
	});

	it("has space for a large program, and is not written above 64 KiB", () => {
		const large = many((index) => `transformers.models.m${index}.modeling`);
		const record = recordOfModules({ modules: large, bytes: 1 });
		expect(JSON.stringify(record).length).toBeLessThan(64 * 1024);
		const random = many((index) => `m${index}_${(index * 7919) ** 3 % 1e15}`);
		const longer = random.map((name) => `${name}.${name.split("").reverse()}`);
		const noise = longer.map((name) => name.replaceAll(",", ""));
		const tooMuch = [...noise, ...noise.map((name) => `x${name}`)];
		const found = recordOfModules({ modules: tooMuch, bytes: 1 });
		expect(JSON.stringify(found ?? "").length).toBeLessThan(64 * 1024);
	});

	it.each([
		["no names", ["../train", "os;rm", "a b", "", "a..b", "é", "1a"]],
		["programs", ["pip.__main__", "antigravity", "test.libregrtest", "this"]],
		["too long", ["a".repeat(2_000)]],
	])("takes nothing else from a hostile store: %s", (_, names) => {
		expect(modulesOf(packed([...names, "torch"].join("\n")))?.modules).toEqual([
			"torch",
		]);
	});
});

function packed(text: string) {
	const modules = deflateRawSync(text).toString("base64");
	return { version: 1, modules, bytes: 1 } as const;
}

function many(name: (index: number) => string): readonly string[] {
	return Array.from({ length: 6_000 }, (_, index) => name(index));
}
