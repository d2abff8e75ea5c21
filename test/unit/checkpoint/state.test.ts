import { describe, expect, it } from "vitest";
import {
	type CheckpointState,
	decodeState,
	encodeState,
} from "../../../src/checkpoint/state.js";

const complete = {
	step: 3,
	epoch: 1,
	generator: null,
	dataPosition: 17,
	parameters: { weights: Float32Array.of(1, -2) },
};

/** Through JSON text, as in a file. */
function roundTrip(state: CheckpointState): unknown {
	const { tree, sections } = encodeState(state);
	return decodeState(JSON.parse(JSON.stringify(tree)), sections);
}

describe("P7 a state comes back as it was", () => {
	it.each<[string, unknown]>([
		["numbers that JSON does not know", [Number.NaN, Infinity, -Infinity, -0]],
		["bigints", { state: 2n ** 64n, increment: -1n }],
		["nested lists and objects", [[], {}, { deep: [{ deeper: null }] }]],
		["text", ["", "ä\u0000\ud83d\ude00", '{"$":1}']],
		["keys that look like marks", { $: ["section", 0], other: { $: 1 } }],
		["keys that objects have by nature", JSON.parse('{"__proto__":{"a":1}}')],
		[
			"an object without a prototype",
			Object.assign(Object.create(null), { a: 1 }),
		],
	])("%s", (_, generator) => {
		expect(roundTrip({ ...complete, generator })).toEqual({
			...complete,
			generator,
		});
	});

	it.each([
		Int8Array.of(-1),
		Uint8Array.of(255),
		Uint8ClampedArray.of(7),
		Int16Array.of(-300),
		Uint16Array.of(60_000),
		Int32Array.of(-70_000),
		Uint32Array.of(4e9),
		Float32Array.of(Number.NaN, -0),
		Float64Array.of(Math.PI),
		BigInt64Array.of(-5n),
		BigUint64Array.of(5n),
		new Float64Array(0),
	])("%o", (moments) => {
		const state = { ...complete, optimizer: { moments } };
		expect(roundTrip(state)).toEqual(state);
	});
});

describe("what cannot be kept is refused by its name", () => {
	const cycle: { self?: unknown } = {};
	cycle.self = cycle;

	it.each<[string, Record<string, unknown>]>([
		["state.step is -1", { step: -1 }],
		["state.epoch is 0.5", { epoch: 0.5 }],
		["state.generator is missing", { generator: undefined }],
		["state.dataPosition is missing", { dataPosition: undefined }],
		["state.parameters must be", { parameters: undefined }],
		["state.parameters.bias must be", { parameters: { bias: [1, 2] } }],
		["state.hook is of type function", { hook: () => 1 }],
		["state.list[1] is of type undefined", { list: [1, undefined] }],
		["state.when.at is of type Date", { when: { at: new Date(0) } }],
		["state.seen is of type Map", { seen: new Map() }],
		["state.generator.self contains itself", { generator: cycle }],
	])("%s", (message, change) => {
		const state = { ...complete, ...change };
		expect(() => encodeState(state)).toThrow(`Nothing was saved: ${message}`);
	});
});
