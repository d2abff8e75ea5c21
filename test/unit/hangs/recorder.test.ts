import { describe, expect, it } from "vitest";
import { parseRecorder } from "../../../src/hangs/recorder.js";

const entry = (sequence: number, change: object = {}) => ({
	record_id: sequence,
	process_group: ["0", "default_pg"],
	collective_seq_id: sequence,
	is_p2p: false,
	profiling_name: "gloo:all_reduce",
	input_sizes: [[4]],
	input_dtypes: ["Float"],
	state: "scheduled",
	retired: true,
	...change,
});

describe("torch's flight recorder", () => {
	it("A5 tells by group what was entered and what is not over", () => {
		const text = JSON.stringify({
			version: "2.10",
			entries: [
				entry(5),
				entry(6, { retired: false }),
				entry(1, { is_p2p: true, retired: false }),
			],
			pg_config: { "0": { name: "0", desc: "default_pg", ranks: "[0, 1]" } },
		});
		expect(parseRecorder(text)).toEqual([
			{
				group: "0",
				ranks: [0, 1],
				entered: 6,
				unfinished: {
					sequence: 6,
					operation: "gloo:all_reduce",
					shape: "[[4]] Float",
				},
			},
		]);
	});

	it("A5 takes a completed state for over: NCCL may not retire it at once", () => {
		const text = JSON.stringify({
			entries: [entry(3, { state: "completed", retired: false })],
		});
		expect(parseRecorder(text)).toMatchObject([{ unfinished: undefined }]);
	});

	it.each([
		["another form", `{"entries":{"a":1}}`],
		["entries without names", `{"entries":[{"collective_seq_id":4},null,7]}`],
		["a list", "[]"],
	])("A5 says nothing in %s", (_, text) => {
		expect(parseRecorder(text)).toEqual([]);
	});

	it("A5 that is no JSON is an error", () => {
		expect(() => parseRecorder("nothing")).toThrow();
	});
});
