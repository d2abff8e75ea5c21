import { describe, expect, it } from "vitest";
import { FrameReader, frame } from "../../../src/links/frames.js";

const read = (...pieces: readonly (string | Buffer)[]) => {
	const reader = new FrameReader();
	return pieces.map((piece) => reader.push(Buffer.from(piece)));
};

describe("A9 messages of a link", () => {
	it("come back whole, however their bytes arrive", () => {
		const bytes = Buffer.from(frame({ word: "é" }) + frame([2]));
		expect(read(bytes)).toEqual([[{ word: "é" }, [2]]]);
		const single = [...bytes].map((byte) => Buffer.from([byte]));
		expect(read(...single).flat()).toEqual([{ word: "é" }, [2]]);
	});

	it.each([
		["no length", "GET / HTTP/1.1\r\n\r\n"],
		["a length that is empty", "\n{}"],
		["a length that is negative", "-1\n{}"],
		["a length that is not whole", "1.5\n{}"],
		["too long a length", "65537\n"],
		["a length without an end", "123456"],
		["no JSON", "2\n{]"],
	])("are refused where they have %s", (_, bytes) => {
		expect(() => read(bytes)).toThrow(/what it sends is no/);
	});

	it("may be as long as allowed", () => {
		const text = "x".repeat(65_534);
		expect(read(frame(text))).toEqual([[text]]);
	});
});
